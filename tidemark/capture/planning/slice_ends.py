"""The slices whose ends a table's changes are cut at, by the local calendar."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from typing import Final

from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.epoch_time import utc
from tidemark.capture.errors import TooManySlicesError
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar, Period

MOST_SLICES: Final = 100_000
"""Of one entity at once: as many as Dagster gives an asset. Up to 2106 there are eight million of five minutes."""


def open_slice_ends(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int, reached_ms: int
) -> list[SliceEnd]:
    """Slices of each of the table's entities that are not tagged, up to `reached_ms`, and the one after it.

    A slice that ended at or before `merged_ms` (the newest event that is in the table) is left out: when the entity
    is new the state of that time has passed. All times are epoch ms. Raises TooManySlicesError.
    """
    slice_ends: list[SliceEnd] = []
    for entity, period, start in table.snapshot_series:
        after_ms = max(closed.get(entity, 0), merged_ms)
        open_slices = list(
            _up_to(
                reached_ms,
                slices_after(table.calendar_of(entity, calendar), entity, Period.parse(period), start, after_ms),
            )
        )
        if open_slices[-1].end_ms <= reached_ms:
            raise TooManySlicesError.of(table.name, entity, MOST_SLICES, open_slices[0].slice, utc(reached_ms))
        slice_ends += open_slices
    return slice_ends


def _up_to(reached_ms: int, slices: Iterator[SliceEnd]) -> Iterator[SliceEnd]:
    """Up to the first that ends later, and at most as many as there may be at once."""
    for slice_end in islice(slices, MOST_SLICES):
        yield slice_end
        if slice_end.end_ms > reached_ms:
            return


def waits_of(table: SourceTable, slice_ends: Iterable[SliceEnd]) -> list[SliceEnd]:
    """Where the snapshots of these slices stop waiting for late changes, of entities that wait."""
    return [
        replace(slice_end, end_ms=slice_end.end_ms + late_ms, late_ms=late_ms)
        for slice_end in slice_ends
        if (late_ms := table.lateness.get(slice_end.entity, 0))
    ]


def missed_slice_ends(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int
) -> list[SliceEnd]:
    """Slices that were never tagged and cannot be any more; the first ones, where they are very many."""
    slice_ends: list[SliceEnd] = []
    for entity, period, start in table.snapshot_series:
        since = slices_after(
            table.calendar_of(entity, calendar), entity, Period.parse(period), start, closed.get(entity, 0)
        )
        slice_ends += islice(takewhile(lambda slice_end: slice_end.end_ms <= merged_ms, since), MOST_SLICES)
    return slice_ends


def slices_after(calendar: Calendar, entity: str, period: Period, start: str, after_ms: int) -> Iterator[SliceEnd]:
    """Slices from `start` on whose end (epoch ms) is later than `after_ms`, without end."""
    first = calendar.window(period, start)
    instant = max(first.start, utc(after_ms))
    while True:
        window = calendar.window(period, instant)
        end_ms = int(window.end.timestamp() * 1000)
        if end_ms > after_ms:
            yield SliceEnd(end_ms, entity, str(period), calendar.key(period, window.start))
        instant = window.end

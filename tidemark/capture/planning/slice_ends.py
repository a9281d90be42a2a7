"""The slices of a table's entities, by the local calendar. Commits are cut at their ends."""

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
"""The most open slices of one entity, as Dagster allows for an asset. A wrong clock in 2106 could open 8 million."""


def open_slice_ends(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int, reached_ms: int
) -> list[SliceEnd]:
    """The untagged slices of each of the table's entities up to `reached_ms`, and the next one.

    A slice that ended at or before `merged_ms`, the newest event in the table, is left out: for a new entity the state
    of that time has passed. All times are epoch ms. Raises TooManySlicesError.
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
    """The slices up to the first that ends after `reached_ms`, at most MOST_SLICES."""
    for slice_end in islice(slices, MOST_SLICES):
        yield slice_end
        if slice_end.end_ms > reached_ms:
            return


def waits_of(table: SourceTable, slice_ends: Iterable[SliceEnd]) -> list[SliceEnd]:
    """The ends of waiting for late changes, for slices of entities that wait."""
    return [
        replace(slice_end, end_ms=slice_end.end_ms + late_ms, late_ms=late_ms)
        for slice_end in slice_ends
        if (late_ms := table.lateness.get(slice_end.entity, 0))
    ]


def missed_slice_ends(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int
) -> list[SliceEnd]:
    """Slices that were never tagged and cannot be any more; at most the first MOST_SLICES of each entity."""
    slice_ends: list[SliceEnd] = []
    for entity, period, start in table.snapshot_series:
        since = slices_after(
            table.calendar_of(entity, calendar), entity, Period.parse(period), start, closed.get(entity, 0)
        )
        slice_ends += islice(takewhile(lambda slice_end: slice_end.end_ms <= merged_ms, since), MOST_SLICES)
    return slice_ends


def slices_after(calendar: Calendar, entity: str, period: Period, start: str, after_ms: int) -> Iterator[SliceEnd]:
    """Endless slices from `start` on whose end (epoch ms) is after `after_ms`."""
    first = calendar.window(period, start)
    instant = max(first.start, utc(after_ms))
    while True:
        window = calendar.window(period, instant)
        end_ms = int(window.end.timestamp() * 1000)
        if end_ms > after_ms:
            yield SliceEnd(end_ms, entity, str(period), calendar.key(period, window.start))
        instant = window.end

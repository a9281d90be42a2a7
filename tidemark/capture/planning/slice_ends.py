"""The slices whose ends a table's changes are cut at, by the local calendar."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.epoch_time import utc
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar, Period


def open_slice_ends(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int, reached_ms: int
) -> list[SliceEnd]:
    """Slices of each of the table's entities that are not tagged, up to `reached_ms`, and the one after it.

    A slice that ended at or before `merged_ms` (the newest event that is in the table) is left out: when the entity
    is new the state of that time has passed. All times are epoch ms.
    """
    slice_ends: list[SliceEnd] = []
    for entity, period, start in table.snapshot_series:
        for slice_end in slices_after(
            calendar, entity, Period.parse(period), start, max(closed.get(entity, 0), merged_ms)
        ):
            slice_ends.append(slice_end)
            if slice_end.end_ms > reached_ms:
                break
    return slice_ends


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
    """Slices that were never tagged and cannot be any more."""
    slice_ends: list[SliceEnd] = []
    for entity, period, start in table.snapshot_series:
        since = slices_after(calendar, entity, Period.parse(period), start, closed.get(entity, 0))
        slice_ends += takewhile(lambda slice_end: slice_end.end_ms <= merged_ms, since)
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

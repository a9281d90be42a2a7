"""The slices whose ends a table's changes are cut at, by the local calendar."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from tidemark.capture.commits.slice_end import Boundary
from tidemark.capture.epoch_time import utc
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar, Period


def open_boundaries(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int, reached_ms: int
) -> list[Boundary]:
    """Slices of each of the table's entities that are not named, up to `reached_ms`, and the one after it.

    A slice that ended at or before `merged_ms` (the newest event that is in the table) is left out: when the entity
    is new the state of that time has passed. All times are epoch ms.
    """
    boundaries: list[Boundary] = []
    for entity, period, start in table.boundaries:
        for boundary in slices_after(
            calendar, entity, Period.parse(period), start, max(closed.get(entity, 0), merged_ms)
        ):
            boundaries.append(boundary)
            if boundary.end_ms > reached_ms:
                break
    return boundaries


def waits_of(table: SourceTable, boundaries: Iterable[Boundary]) -> list[Boundary]:
    """Where the snapshots of these slices stop waiting for late changes, of entities that wait."""
    return [
        replace(boundary, end_ms=boundary.end_ms + late_ms, late_ms=late_ms)
        for boundary in boundaries
        if (late_ms := table.lateness.get(boundary.entity, 0))
    ]


def missed_boundaries(
    table: SourceTable, calendar: Calendar, closed: Mapping[str, int], merged_ms: int
) -> list[Boundary]:
    """Slices that were never named and cannot be any more."""
    boundaries: list[Boundary] = []
    for entity, period, start in table.boundaries:
        since = slices_after(calendar, entity, Period.parse(period), start, closed.get(entity, 0))
        boundaries += takewhile(lambda boundary: boundary.end_ms <= merged_ms, since)
    return boundaries


def slices_after(calendar: Calendar, entity: str, period: Period, start: str, after_ms: int) -> Iterator[Boundary]:
    """Slices from `start` on whose end (epoch ms) is later than `after_ms`, without end."""
    first = calendar.window(period, start)
    instant = max(first.start, utc(after_ms))
    while True:
        window = calendar.window(period, instant)
        end_ms = int(window.end.timestamp() * 1000)
        if end_ms > after_ms:
            yield Boundary(end_ms, entity, str(period), calendar.key(period, window.start))
        instant = window.end

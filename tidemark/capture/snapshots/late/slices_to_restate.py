"""The slices that late changes belong to. No Spark.

A late change of 23:50 is counted for the slices that contain 23:50. It belongs to the state at the end of each tagged
slice that ends after 23:50: of the day, and of every later hour.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Final

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.epoch_time import utc
from tidemark.capture.planning.slice_ends import slices_after
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar, Period

MOST_RESTATED: Final = 1_000
"""The most restated slices of an entity; older ones are left out. A clock of 1970 must not restate all slices."""
COUNTED: Final = 50
"""The number of newest slices of an entity whose counts are kept."""

Counts = Mapping[str, Mapping[str, int]]


def count_late(
    table: SourceTable,
    calendar: Calendar,
    closed: Mapping[str, int],
    minutes: Iterable[tuple[int, int]],
    before: Counts,
) -> Counts:
    """`before` (entity -> slice -> changes) plus the late changes of `minutes` (epoch ms, count)."""
    minutes = list(minutes)
    if not minutes:
        return before
    counts = {
        entity: _of(
            table.calendar_of(entity, calendar),
            Period.parse(period),
            start,
            closed.get(entity, 0),
            minutes,
            before.get(entity, {}),
        )
        for entity, period, start in table.snapshot_series
    }
    return {entity: _newest(slices) for entity, slices in counts.items() if slices}


def _of(
    calendar: Calendar,
    period: Period,
    start: str,
    closed_ms: int,
    minutes: Iterable[tuple[int, int]],
    before: Mapping[str, int],
) -> Counter[str]:
    counts, closed = Counter(before), utc(closed_ms)
    first = calendar.window(period, start).start
    for minute, changes in minutes:
        if first <= utc(minute) < closed:
            window = calendar.window(period, utc(minute))
            if window.end <= closed:
                counts[calendar.key(period, window.start)] += changes
    return counts


def _newest(counts: Counter[str]) -> dict[str, int]:
    return {slice_: counts[slice_] for slice_ in sorted(counts)[-COUNTED:]}


def slices_to_restate(
    table: SourceTable, calendar: Calendar, before: CommitState, oldest_ms: int | None
) -> tuple[SliceEnd, ...]:
    """The slices, tagged in `before`, that changes from the event minute `oldest_ms` (epoch ms) on belong to.

    For restated entities all slices that end after it; for other entities the slices that still wait for late changes.
    """
    if oldest_ms is None:
        return ()
    every = (
        slice_end
        for entity, period, start in table.snapshot_series
        if entity in table.restated
        for slice_end in deque(
            _tagged_ends(
                table.calendar_of(entity, calendar), entity, period, start, oldest_ms, before.closed.get(entity, 0)
            ),
            maxlen=MOST_RESTATED,
        )
    )
    ends = (replace(slice_end, end_ms=slice_end.end_ms - slice_end.late_ms, late_ms=0) for slice_end in before.waits)
    waiting = (end for end in ends if end.entity not in table.restated and end.end_ms > oldest_ms)
    return (*every, *waiting)


def _tagged_ends(
    calendar: Calendar, entity: str, period: str, start: str, oldest_ms: int, closed_ms: int
) -> Iterator[SliceEnd]:
    return takewhile(
        lambda slice_end: slice_end.end_ms <= closed_ms,
        slices_after(calendar, entity, Period.parse(period), start, oldest_ms),
    )

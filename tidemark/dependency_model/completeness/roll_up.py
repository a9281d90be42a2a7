"""Slots rolled up to windows of 5 minutes, 10 minutes, hours and days, incrementally (seed capability C4).

A slot is complete once the source's counts are final and the lake agrees with them. A window is complete once complete
slots cover all of its minutes. Each level counts its covered minutes, so the cost of a count does not grow with the
known slots. Counts may come in any order; `late` decides whether late counts make a complete window incomplete.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.completeness.slot import AT_LEAST, LateCounts, Slot
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from fractions import Fraction

    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar

LEVELS: Final = (Period.FIVE_MINUTES, Period.TEN_MINUTES, Period.HOUR, Period.DAY)
_MINUTE: Final = 60


class WindowChange(NamedTuple):
    """A window, by period and slice key, that became complete or incomplete."""

    period: Period
    key: str
    is_complete: bool


class _Share(NamedTuple):
    """The part of a window that a slot covers: `overlap` of its `minutes`."""

    level: int
    ordinal: int
    minutes: int
    overlap: int


@dataclass(frozen=True, slots=True)
class SlotGrid:
    """Slots of `minutes` minutes. The first slot of a day begins at minute `phase` in UTC:

    10 and 8 give [15:58, 16:08).
    """

    minutes: int = 5
    phase: int = 0

    def slot(self, minute: int) -> Slot:
        """The slot that contains a minute (since 1970)."""
        start = (minute - self.phase) // self.minutes * self.minutes + self.phase
        return Slot(start, start + self.minutes)


class RollUp:
    """The windows of one table on one clock.

    Before `begins`, slots without counts are not complete.
    """

    def __init__(
        self,
        calendar: Calendar,
        slots: SlotGrid,
        begins: datetime,
        at_least: Fraction = AT_LEAST,
        late: LateCounts = LateCounts.RESTATE,
    ) -> None:
        self._calendar, self._grid, self._at_least, self._late = calendar, slots, at_least, late
        self._levels: tuple[tuple[Period, Grid, dict[int, int]], ...] = tuple(
            (period, calendar.grid(period), {}) for period in LEVELS
        )
        self._slots: dict[int, Slot] = {}
        self._complete: set[int] = set()
        self._closed = slots.slot(seconds_of(begins) // _MINUTE).start

    def add(self, minute: int, source: int = 0, lake: int = 0) -> list[WindowChange]:
        """Adds counted records to the slot of a minute. Raises ParseError if a total becomes negative."""
        slot = self._slots.get(start := self._grid.slot(minute).start)
        if slot is None:
            slot = self._slots[start] = self._grid.slot(minute)
        if slot.source + source < 0 or slot.lake + lake < 0:
            raise ParseError(
                "the number of records is negative", found=f"{slot.source + source} and {slot.lake + lake}"
            )
        slot.source += source
        slot.lake += lake
        return list(self._judge(slot))

    def close(self, instant: datetime) -> list[WindowChange]:
        """The source's counts are final up to an instant. A slot without counts had no records."""
        until = seconds_of(instant) // _MINUTE
        changes: list[WindowChange] = []
        while self._closed + self._grid.minutes <= until:
            slot = self._slots.setdefault(self._closed, self._grid.slot(self._closed))
            self._closed = slot.end
            changes += self._judge(slot)
        return changes

    def is_complete(self, period: Period, key: str) -> bool:
        """Whether a window is complete."""
        _, grid, covered = next(level for level in self._levels if level[0] is period)
        ordinal = grid.ordinal(key)
        return covered.get(ordinal, 0) == _minutes(grid, ordinal)

    def slots(self) -> Iterator[tuple[Slot, bool]]:
        """Each known slot, in order, and whether it is complete."""
        for start in sorted(self._slots):
            yield self._slots[start], start in self._complete

    def forget_before(self, instant: datetime) -> None:
        """Drops slots and windows before an instant."""
        minute = seconds_of(instant) // _MINUTE
        for start in [start for start, slot in self._slots.items() if slot.end <= minute]:
            del self._slots[start]
            self._complete.discard(start)
        for _, grid, covered in self._levels:
            present = grid.at(minute * _MINUTE)
            for ordinal in [ordinal for ordinal in covered if ordinal < present]:
                del covered[ordinal]

    def _judge(self, slot: Slot) -> Iterator[WindowChange]:
        was, is_final = slot.start in self._complete, slot.end <= self._closed
        if not (was or is_final):
            return
        now = is_final and slot.agrees(self._at_least)
        if was == now or (was and self._late is LateCounts.KEEP):
            return
        if now:
            self._complete.add(slot.start)
        else:
            self._complete.discard(slot.start)
        yield from self._cover(slot, is_complete=now)

    def _cover(self, slot: Slot, *, is_complete: bool) -> Iterator[WindowChange]:
        for share in _shares(self._calendar, slot.start, slot.end):
            period, grid, covered = self._levels[share.level]
            before = covered.get(share.ordinal, 0)
            after = covered[share.ordinal] = before + (share.overlap if is_complete else -share.overlap)
            if (before == share.minutes) != (after == share.minutes):
                yield WindowChange(period, grid.key(share.ordinal), is_complete)


@lru_cache(maxsize=16_384)
def _shares(calendar: Calendar, start: int, end: int) -> tuple[_Share, ...]:
    """The part of each window that minutes `[start, end)` cover.

    Cached, because all tables of a clock have the same slots.
    """
    shares = []
    for level, period in enumerate(LEVELS):
        grid = calendar.grid(period)
        for ordinal in range(grid.at(start * _MINUTE), grid.at(end * _MINUTE - 1) + 1):
            first, last = grid.start(ordinal) // _MINUTE, grid.start(ordinal + 1) // _MINUTE
            shares.append(_Share(level, ordinal, last - first, min(end, last) - max(start, first)))
    return tuple(shares)


def _minutes(grid: Grid, ordinal: int) -> int:
    return (grid.start(ordinal + 1) - grid.start(ordinal)) // _MINUTE

"""Windows by counts: seed 002's story, a slow reference on random arrival orders, days of 23 and 25 hours."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from tidemark.dependency_model.completeness.roll_up import LEVELS, RollUp, SlotGrid, WindowChange
from tidemark.dependency_model.completeness.slot import AT_LEAST, LateCounts, Slot, ratio
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable

PARIS = Calendar("Europe/Paris")
DAY = datetime(2022, 8, 1, tzinfo=UTC)


def minute(instant: datetime) -> int:
    return seconds_of(instant) // 60


def test_the_story_of_seed_002() -> None:
    """99.995 % of [15:58, 16:08) completes hour 15, ten minutes 15:50, five minutes 15:55 and 16:00 - no more."""
    windows = RollUp(Calendar("UTC"), SlotGrid(10, 8), DAY + timedelta(hours=14, minutes=58))
    start = minute(DAY + timedelta(hours=14, minutes=58))
    for number in range(6):
        windows.add(start + 10 * number, source=40_000, lake=40_000)
    windows.close(DAY + timedelta(hours=15, minutes=58))
    assert windows.add(start + 60, source=40_000, lake=39_997) == []
    assert windows.close(DAY + timedelta(hours=16, minutes=8)) == []
    assert {(change.period.value, change.key) for change in windows.add(start + 65, lake=1)} == {
        ("hour", "2022-08-01T15"),
        ("10min", "2022-08-01T15:50"),
        ("5min", "2022-08-01T15:55"),
        ("5min", "2022-08-01T16:00"),
    }
    assert not windows.is_complete(Period.FIVE_MINUTES, "2022-08-01T16:05")


@pytest.mark.parametrize(
    ("source", "lake", "agrees"),
    [
        (20_000, 19_999, True),
        (19_999, 19_998, False),
        (20_000, 20_001, True),
        (19_999, 20_000, False),
        (0, 0, True),
        (0, 1, False),
        (1, 0, False),
    ],
)
def test_too_many_is_as_wrong_as_too_few(source: int, lake: int, *, agrees: bool) -> None:
    """Exactly: one record in 20,000 is the share itself."""
    assert Slot(0, 5, source, lake).agrees(AT_LEAST) is agrees


def test_shares_for_people() -> None:
    assert (ratio(4, 3), ratio(0, 0), ratio(0, 2)) == (0.75, 1.0, float("inf"))


def test_late_counts_open_a_window_again_or_are_reported() -> None:
    for late in LateCounts:
        windows = RollUp(PARIS, SlotGrid(), DAY, late=late)
        windows.add(minute(DAY), source=10, lake=10)
        assert windows.close(DAY + timedelta(minutes=5)) == [
            WindowChange(Period.FIVE_MINUTES, "2022-08-01T02:00", is_complete=True)
        ]
        opened = [WindowChange(Period.FIVE_MINUTES, "2022-08-01T02:00", is_complete=False)]
        assert windows.add(minute(DAY), source=1) == (opened if late is LateCounts.RESTATE else [])
        ((slot, is_complete),) = windows.slots()
        assert (slot.missing, is_complete) == (1, late is LateCounts.KEEP)
        assert [change.is_complete for change in windows.add(minute(DAY), lake=1)] == [True] * (
            late is LateCounts.RESTATE
        )


def test_a_negative_number_of_records_is_an_error() -> None:
    windows = RollUp(PARIS, SlotGrid(), DAY)
    with pytest.raises(ParseError, match="the number of records is negative"):
        windows.add(minute(DAY), source=-1)


@pytest.mark.parametrize(("date", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_a_local_day_is_complete_with_all_of_its_hours(date: str, hours: int) -> None:
    begins = PARIS.start_of(date)
    windows = RollUp(PARIS, SlotGrid(), begins)
    changes = windows.close(begins + timedelta(hours=hours))
    assert sum(change.period is Period.HOUR for change in changes) == hours
    assert windows.is_complete(Period.DAY, date)
    assert changes[-1].period is Period.DAY


def test_deleted_counts_use_no_memory() -> None:
    windows = RollUp(PARIS, SlotGrid(), DAY)
    windows.close(DAY + timedelta(days=2))
    windows.forget_before(DAY + timedelta(days=2))
    assert list(windows.slots()) == []


@dataclass
class Reference:
    """All reported counts, summed again at each question."""

    grid: SlotGrid
    begins: datetime
    told: list[tuple[int, int, int]] = field(default_factory=list)
    closed: datetime = DAY

    def complete_minutes(self) -> set[int]:
        first, end = self.grid.slot(minute(self.begins)).start, minute(max(self.closed, self.begins))
        minutes: set[int] = set()
        for start in range(first, end, self.grid.minutes):
            stop = start + self.grid.minutes
            source = sum(count for at, count, _ in self.told if start <= at < stop)
            lake = sum(count for at, _, count in self.told if start <= at < stop)
            agrees = Fraction(abs(source - lake)) <= (1 - AT_LEAST) * source
            if stop <= end and agrees:
                minutes |= set(range(start, stop))
        return minutes

    def complete_windows(self) -> set[tuple[Period, str]]:
        minutes, complete = self.complete_minutes(), set()
        for period in LEVELS:
            grid = PARIS.grid(period)
            for ordinal in {grid.at(at * 60) for at in minutes}:
                window = grid.window(ordinal)
                if set(range(minute(window.start), minute(window.end))) <= minutes:
                    complete.add((period, grid.key(ordinal)))
        return complete


def _apply(complete: set[tuple[Period, str]], changes: Iterable[WindowChange]) -> None:
    for period, key, is_complete in changes:
        assert ((period, key) in complete) != is_complete, "told once"
        (complete.add if is_complete else complete.discard)((period, key))


def _compare(seed: int) -> None:
    chance = random.Random(seed)
    grid = SlotGrid(*chance.choice([(5, 0), (10, 8), (1, 0), (15, 3)]))
    windows, reference = RollUp(PARIS, grid, DAY), Reference(grid, DAY)
    told = [(minute(DAY) + chance.randrange(70), chance.randrange(3), 0) for _ in range(12)]
    told += [(at, 0, count) for at, count, _ in told]
    if chance.random() < 0.3:
        told += [(told[0][0], 0, 1)]
    chance.shuffle(told)
    closings = sorted(chance.randrange(90) for _ in range(3))
    complete: set[tuple[Period, str]] = set()
    for number, (at, source, lake) in enumerate(told):
        _apply(complete, windows.add(at, source, lake))
        reference.told.append((at, source, lake))
        if number % 8 == 7:
            reference.closed = DAY + timedelta(minutes=closings[number // 8])
            _apply(complete, windows.close(reference.closed))
    assert complete == reference.complete_windows()


def test_as_the_reference_on_300_random_arrival_orders() -> None:
    for seed in range(300):
        _compare(seed)


@pytest.mark.long
def test_as_the_reference_on_10_000_random_arrival_orders() -> None:
    for seed in range(300, 10_300):
        _compare(seed)

"""Completeness of windows by counts: rolled up incrementally, a count at a time, and what is planted is found.

Each table has a slot every five minutes, up to 20,000 records at the source, as many in the lake in two commits, and
the source's word that its counts are final. In some windows one record is lost, or one doubled: at 99.995 % neither may
complete. Counts come table by table and day by day, the lake's in any order within some minutes.

    windows             tables x 288 x days
    counts              what was counted: three a window, and its closing
    counts_per_second   all of it, closings included, on one processor
    rollup_us_p50, _p99 the count that closes a slot, until each window that it completes is known, in microseconds
    rollup_cpu_us_p99   the same in processor time: what others on the machine do is not in it
    planted             windows with one record lost, or one doubled
    detected            of these, the windows that are not complete, nor the hour and day around them
    false_alarms        windows that are not complete though nothing was planted in them
"""

from __future__ import annotations

import random
import time
from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.completeness.roll_up import RollUp, SlotGrid, WindowChange
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

TABLES, DAYS, PLANTS, A_DAY = 1_000, 30, 1_000, 288
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
UTC_CLOCK: Final = Calendar("UTC")
FIRST: Final = seconds_of(START) // 60


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--plants", type=int, default=PLANTS)


@dataclass
class _Tally:
    counts: int = 0
    detected: int = 0
    false_alarms: int = 0
    nanoseconds: array[int] = field(default_factory=lambda: array("q"))
    processor: array[int] = field(default_factory=lambda: array("q"))
    complete: set[WindowChange] = field(default_factory=set)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    chance, tally = random.Random(2), _Tally()
    windows = arguments.tables * arguments.days * A_DAY
    planted = {place: chance.choice((-1, 1)) for place in chance.sample(range(windows), arguments.plants)}
    begun = time.perf_counter()
    for table in range(arguments.tables):
        tally.complete.clear()
        roll_up = RollUp(UTC_CLOCK, SlotGrid(), START)
        for day in range(arguments.days):
            base = (table * arguments.days + day) * A_DAY
            _run_day(roll_up, chance, day, {place - base: planted[place] for place in _within(planted, base)}, tally)
    seconds = time.perf_counter() - begun
    ordered, processor = sorted(tally.nanoseconds), sorted(tally.processor)
    return {
        "windows": windows,
        "counts": tally.counts,
        "counts_per_second": round(tally.counts / seconds),
        "rollup_us_p50": round(ordered[len(ordered) // 2] / 1000, 2),
        "rollup_us_p99": round(ordered[int(len(ordered) * 0.99)] / 1000, 2),
        "rollup_cpu_us_p99": round(processor[int(len(processor) * 0.99)] / 1000, 2),
        "planted": len(planted),
        "detected": tally.detected,
        "false_alarms": tally.false_alarms,
    }


def _within(planted: Mapping[int, int], base: int) -> list[int]:
    return [place for place in range(base, base + A_DAY) if place in planted]


def _run_day(roll_up: RollUp, chance: random.Random, day: int, planted: dict[int, int], tally: _Tally) -> None:
    begins = FIRST + day * 1440
    for number in range(A_DAY):
        records = chance.randrange(1_000, 20_000)
        first = chance.randrange(records)
        counts = [(records, 0), (0, first), (0, records - first + planted.get(number, 0))]
        chance.shuffle(counts)
        for source, lake in counts:
            roll_up.add(begins + 5 * number, source, lake)
        closing = START + timedelta(days=day, minutes=5 * (number + 1))
        tally.counts += 4
        if number % 2 == 0:
            _note(tally, roll_up.close(closing))
            continue
        processor, before = time.thread_time_ns(), time.perf_counter_ns()
        changes = roll_up.close(closing)
        tally.nanoseconds.append(time.perf_counter_ns() - before)
        tally.processor.append(time.thread_time_ns() - processor)
        _note(tally, changes)
    _judge_day(day, planted, tally)
    roll_up.forget_before(START + timedelta(days=day + 1))


def _note(tally: _Tally, changes: list[WindowChange]) -> None:
    """The events of the roll-up alone say what is complete."""
    for change in changes:
        if change.is_complete:
            tally.complete.add(change)
        else:
            tally.complete.discard(change._replace(is_complete=True))


def _judge_day(day: int, planted: Mapping[int, int], tally: _Tally) -> None:
    """Each window of the day has to be complete exactly where nothing was planted, and so have hours and the day."""
    windows, tens, hours = (
        _open(period, day, count, tally.complete)
        for period, count in ((Period.FIVE_MINUTES, A_DAY), (Period.TEN_MINUTES, 144), (Period.HOUR, 24))
    )
    for number in planted:
        tally.detected += number in windows and number // 2 in tens and number // 12 in hours
    tally.false_alarms += len(windows - planted.keys())
    tally.false_alarms += len(tens - {number // 2 for number in planted})
    tally.false_alarms += len(hours - {number // 12 for number in planted})
    tally.false_alarms += bool(_open(Period.DAY, day, 1, tally.complete)) != bool(planted)


def _open(period: Period, day: int, count: int, complete: set[WindowChange]) -> set[int]:
    """Numbers of the windows of a day that are not complete."""
    grid = UTC_CLOCK.grid(period)
    first = grid.at(seconds_of(START) + day * 86_400)
    keys = grid.keys(range(first, first + count))
    return {number for number, key in enumerate(keys) if WindowChange(period, key, is_complete=True) not in complete}

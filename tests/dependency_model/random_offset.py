"""Random offsets that have a meaning between two periods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.offset import ALL, LAST, LAST_AVAILABLE, TO_DATE, Offset, OffsetKind, runs_of
from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from random import Random

_MANY = 800
_SELDOM = 0.01
_HALF = 0.5
_OFTEN = 0.35

MINUTES = {
    Period.FIVE_MINUTES: 5,
    Period.TEN_MINUTES: 10,
    Period.HOUR: 60,
    Period.DAY: 1440,
    Period.WEEK: 10_080,
    Period.MONTH: 44_640,
    Period.QUARTER: 132_480,
    Period.YEAR: 527_040,
}


def random_offset(random: Random, down: Period, up: Period, year: int = 2026, *, one_clock: bool = False) -> Offset:
    """Mostly counted, as far as the window reaches and beyond on both sides; seldom thousands of slices at once.

    `year` is where the days lie that `since` names; `one_clock` where both go by the clock of one time zone.
    """
    kind = random.randrange(18)
    if kind < 10:
        offset = _counted(random, down, up, kind)
        is_once = up.is_clock and offset.kind is OffsetKind.COUNTED and random.random() < _OFTEN
        return replace(offset, once=True) if is_once else offset
    if kind >= 15:
        return _of_workdays(random, down) if random.random() < _HALF else _to_date_of_periods(random, down, up)
    offset = _of_calendar(random, down, up, year)
    compares_hours = offset.kind is OffsetKind.DATE and down.is_clock and up.is_clock
    return ALL if compares_hours and not one_clock else offset


def _counted(random: Random, down: Period, up: Period, kind: int) -> Offset:
    length = max(1, MINUTES[down] // MINUTES[up])
    far = min(length, 3_000)
    first = random.randint(-far - 3, 2 * far + 2)
    if kind < 3:
        return Offset.of_counts(random.sample(range(-far - 3, 2 * far + 3), k=random.randint(1, 4)))
    if kind < 5:
        return Offset.range(first, first + random.randint(0, min(far, 60)))
    if kind < 6 and (length < _MANY or random.random() < _SELDOM):
        return Offset.range(0, length - 1)
    return _stretch(random, down, up)


def _of_calendar(random: Random, down: Period, up: Period, year: int) -> Offset:
    """Moved dates, a fixed beginning, or periods around the window."""
    runs = runs_of(random.sample(range(-3, 3), k=random.randint(1, 3)))
    choice = random.random()
    if choice < _OFTEN and MINUTES[down] // MINUTES[up] < _MANY:
        return Offset(OffsetKind.DATE, runs, random.choice(list(Period)[3:]))
    if choice < _HALF and MINUTES[up] >= MINUTES[Period.DAY]:
        return Offset(OffsetKind.SINCE, since=f"{year}-{random.randint(1, 12):02}-{random.randint(1, 28):02}")
    within = random.choice([period for period in list(Period)[2:] if not period.is_finer_than(down)])
    if MINUTES[within] // MINUTES[up] < _MANY and random.random() < _HALF:
        return ALL.of_periods(within, runs)
    far = min(MINUTES[within] // MINUTES[up], 3_000)
    inner = LAST if random.random() < _OFTEN else Offset.of_counts(random.sample(range(-3, far + 3), k=2))
    return inner.of_periods(within, runs)


def _of_workdays(random: Random, down: Period) -> Offset:
    """Counted workdays, or the first or the last one of periods."""
    runs = runs_of(random.sample(range(-8, 8), k=random.randint(1, 4)))
    if random.random() < _HALF:
        return Offset(OffsetKind.WORKDAY, runs)
    within = random.choice([period for period in list(Period)[4:] if not period.is_finer_than(down)])
    near = runs_of(random.sample(range(-2, 2), k=random.randint(1, 2)))
    return Offset(random.choice([OffsetKind.FIRST_WORKDAY, OffsetKind.LAST_WORKDAY])).of_periods(within, near)


def _to_date_of_periods(random: Random, down: Period, up: Period) -> Offset:
    longer = [
        period
        for period in list(Period)[4:]
        if not period.is_finer_than(down) and MINUTES[period] // MINUTES[up] < _MANY
    ]
    if down.is_clock or not longer:
        return LAST_AVAILABLE
    runs = runs_of(random.sample(range(-3, 2), k=random.randint(1, 3)))
    return TO_DATE.of_periods(random.choice(longer), runs)


def _stretch(random: Random, down: Period, up: Period) -> Offset:
    longer = [period for period in list(Period)[2:] if not period.is_finer_than(down)]
    short = [period for period in longer if MINUTES[period] // MINUTES[up] < _MANY]
    if (short or random.random() < _SELDOM) and random.random() < _HALF:
        within = random.choice(short or longer)
        return Offset(random.choice([OffsetKind.ALL, OffsetKind.TO_DATE]), (), within)
    return ALL if MINUTES[down] // MINUTES[up] < _MANY or random.random() < _SELDOM else LAST_AVAILABLE

"""The business times at which a query is evaluated: unusual calendar days, and days that the query singles out.

A condition can single out a day by its name (`'2024-09-01'`, `year(...) = 2031`), or by its distance from a named day
or the turn of a month (`date_add(:biz_date, 5) = last_day(:biz_date)`). Expressions that do more than shift days and
find starts of units may treat any day differently: then all days are evaluated.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Literal,
    Parameter,
    inside_out,
    operands,
    value_parts,
)
from tidemark.dependency_model.lineage.functions.calendar_arithmetic import date_of, first_day, months_on
from tidemark.dependency_model.lineage.value_range import Range, Type
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.sample_slices import sparse_slices
from tidemark.dependency_model.time.zone import DAY_SECONDS, Zone
from tidemark.errors import CalendarError, ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.dependency_model.lineage.entity_outline import TimeColumns
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar

_MOVES: Final = frozenset(["date_add", "add_unit", "+", "-"])
_UNITS: Final = frozenset(["trunc", "date_trunc", "last_day", "add_months"])
_COMPARES: Final = frozenset(["and", "or", "not", "=", "<", "<=", "<=>", "is_null", "is_true"])
_CHOOSES: Final = frozenset(["case", "coalesce", "nullif", "greatest", "least"])
_BETWEEN_CLOCKS: Final = frozenset(["from_utc_timestamp", "to_utc_timestamp"])
"""Calls that shift all instants equally, except near changes of the named clock, which are evaluated as well."""
_CONVERTS: Final = _BETWEEN_CLOCKS | frozenset(
    ["to_date", "to_timestamp", "datediff", "whole_units_between", "concat", "sequence", "array"]
)
_ALIKE: Final = _COMPARES | _CHOOSES | _CONVERTS | _MOVES | _UNITS
"""Calls that treat all days equally, except near turns of months, which are evaluated as well."""
_SHIFTS: Final = _MOVES | _UNITS
_SUMMED: Final = 3
"""Up to this many counts besides starts of units, their sums are evaluated; with more, all days."""
_COUNT_LIMIT: Final = 40_000
_ADDS_MONTHS: Final = frozenset(["add_months", "add_unit"])
_MONTHS_LIMIT: Final = 600
_MONTHS_LOOKED_AT: Final = 14
_CHANGES_LOOKED_AT: Final = 400
"""Days: a spring and an autumn."""
_INSTANTS: Final = frozenset(["period_start", "period_end"])
_DAY_MICROS: Final = 86_400_000_000
_LAST_YEAR: Final = 2199
_FEW_DAYS: Final = 60
_STEP: Final = 7
_COMPACT: Final = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})?(?:\D.*)?", re.ASCII)


def query_times(
    calendar: Calendar, period: Period, start: str | None, conditions: Iterable[Bound], times: TimeColumns
) -> list[int]:
    """Downstream slices, in order, at which conditions on the inputs are evaluated."""
    timed = _Timed(times)
    parts = [part for condition in conditions for part in timed.parts(condition)]
    closely = any(timed.tells_days_apart(part) for part in parts) or _moves_twice(parts)
    if period.rank > Period.DAY.rank:
        closely = closely or any(isinstance(part, Call) and part.name in _UNITS for part in parts)
    chosen = sparse_slices(calendar, period, start, closely=closely)
    grid = calendar.grid(period)
    first = grid.zone.day_at(grid.start(chosen[0]))
    days = _singled_out(parts, first, _changes(parts, grid, first, times))
    step = 1 if len(days) <= _FEW_DAYS else _STEP
    singled_out = {slice_ for day in days for slice_ in _slices(grid, day, step)}
    return sorted({*chosen, *(ordinal for ordinal in singled_out if ordinal >= chosen[0])})


class _Timed:
    """Finds whether expressions depend on business time or slices; each is examined once."""

    def __init__(self, times: TimeColumns) -> None:
        self._times = times
        self._known: dict[int, bool] = {}

    def parts(self, condition: Bound) -> list[Bound]:
        """The parts of a condition; empty if it depends neither on business time nor on slices."""
        for part in inside_out(condition, self._known):
            is_timed = isinstance(part, Parameter) or self._times.tells(part)
            self._known[id(part)] = is_timed or any(self._known[id(below)] for below in operands(part))
        return list(value_parts(condition)) if self._known[id(condition)] else []

    def tells_days_apart(self, part: Bound) -> bool:
        """Whether it does more with business time or a partition column than shift it or find a unit's start."""
        return isinstance(part, Call) and part.name not in _ALIKE and self._known[id(part)]


def _moves_twice(parts: Sequence[Bound]) -> bool:
    """Whether shifted instants are shifted again, besides starts of units, so that all days must be evaluated.

    Adding months twice, or to shifted days while months are added elsewhere, leads to separate days: after a shorter
    month the day differs. Many counts can have many sums.
    """
    inside = _shifts_inside(parts)
    of_months = [inside[id(part)] for part in parts if isinstance(part, Call) and part.name == "add_months"]
    if any("add_months" in names or (len(of_months) > 1 and names) for names in of_months):
        return True
    if not any(isinstance(part, Call) and part.name in _UNITS for part in parts):
        return False
    numbers = {number for part in parts for number in _numbers(part)} - {0}
    return len(numbers) > _SUMMED or any(
        isinstance(part, Call) and part.name in _MOVES and _MOVES & inside[id(part)] for part in parts
    )


def _shifts_inside(parts: Iterable[Bound]) -> dict[int, frozenset[str]]:
    """By expression, the shifting calls inside it, without itself."""
    inside: dict[int, frozenset[str]] = {}
    for whole in parts:
        for part in inside_out(whole, inside):
            own = [{below.name} & _SHIFTS for below in operands(part) if isinstance(below, Call)]
            inside[id(part)] = frozenset().union(*own, *(inside[id(below)] for below in operands(part)))
    return inside


def _singled_out(parts: Iterable[Bound], first: int, changes: set[int]) -> set[int]:
    """Named days, named years, and days at counted distances from them or from turns of months.

    Also days at these distances from `changes` of the clock.
    """
    parts = list(parts)
    named = {day for part in parts for day in _named(part)}
    numbers = {number for part in parts for number in _numbers(part)}
    turns = _turns(first) if any(isinstance(part, Call) and part.name in _UNITS for part in parts) else set()
    counts = {0, *(sign * number for number in numbers if abs(number) <= _COUNT_LIMIT for sign in (1, -1))}
    if turns and len(numbers - {0}) <= _SUMMED:  # two shifts of a turn of a month, one on each side
        counts |= {first + second for first, second in combinations(counts, 2)}
    months = {sign * count for part in parts for count in _months(part) for sign in (1, -1)}
    named |= {moved for day in named for count in months if (moved := _by_months(day, count)) is not None}
    near = {day + count + shift for day in named | turns | changes for count in counts for shift in (-1, 0, 1)}
    years = {number for number in numbers if date_of(first).year <= number <= _LAST_YEAR}
    end = day_of(f"{_LAST_YEAR}-12-31")
    return {day for day in near if first <= day <= end} | {day for year in years for day in _days_of(year)}


def _named(part: Bound) -> Iterator[int]:
    """The day in a text or a number: `2024-09-01`, `20240901`; for a month, its first day."""
    if not isinstance(part, Literal) or not isinstance(part.value, Range):
        return
    if part.value.type is Type.DATE:
        yield part.value.low
    match = _COMPACT.fullmatch(str(part.value.low))
    if match:
        with suppress(ParseError):
            yield day_of(f"{match[1]}-{match[2]}-{match[3] or '01'}")


def _numbers(part: Bound) -> Iterator[int]:
    """The number of a literal; for an interval its days, for a text the year."""
    if not isinstance(part, Literal) or not isinstance(part.value, Range):
        return
    value = part.value.low
    match part.value.type:
        case Type.NUMBER:
            yield int(value)
        case Type.INTERVAL:
            yield value[1] // _DAY_MICROS
        case Type.STRING if len(value) == 4 and value.isdecimal():
            yield int(value)


def _months(part: Bound) -> Iterator[int]:
    """The months that it adds: an interval, `add_months(.., 20)`, `dateadd(MONTH, 20, ..)` (or years)."""
    if isinstance(part, Literal) and isinstance(part.value, Range) and part.value.type is Type.INTERVAL:
        yield part.value.low[0]
    if isinstance(part, Call) and part.name in _ADDS_MONTHS:
        for inside in part.arguments:
            yield from (
                number * unit for number in _numbers(inside) for unit in (1, 12) if abs(number) <= _MONTHS_LIMIT
            )


def _by_months(day: int, count: int) -> int | None:
    """The day `count` months later; None beyond the calendar."""
    with suppress(ValueError, OverflowError):
        return months_on(day, count)
    return None


def _changes(parts: Iterable[Bound], grid: Grid, first: int, times: TimeColumns) -> set[int]:
    """Days with a clock change, if hours of other days can be read or counted.

    Clocks of the downstream, of tables with hours, and of zones in the conditions.
    """
    parts = list(parts)
    if not any(times.tells_clock(part) or _is_instant(part) for part in parts):
        return set()
    looked_at = range(first * DAY_SECONDS, (first + _CHANGES_LOOKED_AT) * DAY_SECONDS)
    zones = {grid.zone, *(zone for part in parts for zone in (*times.clocks(part), *_named_clocks(part)))}
    changes = {change for zone in zones for change in zone.changes_within(looked_at.start, looked_at.stop)}
    return {grid.zone.day_at(change) for change in changes}


def _named_clocks(part: Bound) -> Iterator[Zone]:
    """The time zone in a call that converts between two clocks."""
    if not isinstance(part, Call) or part.name not in _BETWEEN_CLOCKS:
        return
    for name in part.arguments[1:]:
        if isinstance(name, Literal) and isinstance(name.value, Range):
            with suppress(CalendarError):
                yield Zone.load(str(name.value.low))


def _is_instant(part: Bound) -> bool:
    """Whether it is an instant, or an interval that is not whole days."""
    if isinstance(part, Literal) and isinstance(part.value, Range) and part.value.type is Type.INTERVAL:
        return bool(part.value.low[1] % _DAY_MICROS)
    return isinstance(part, Parameter) and part.name in _INSTANTS


def _turns(first: int) -> set[int]:
    """First days of months, from a day on."""
    turns = [first_day(first, "month")]
    for _ in range(_MONTHS_LOOKED_AT):
        turns.append(first_day(turns[-1] + 31, "month"))
    return set(turns)


def _days_of(year: int) -> range:
    return range(day_of(f"{year}-01-01"), day_of(f"{year}-12-31") + 1)


def _slices(grid: Grid, day: int, step: int) -> Iterable[int]:
    """A day's slices, or every `step`-th of them, with another start each day."""
    if not isinstance(grid, ClockGrid):
        return (grid.at(grid.zone.midnight(day)),)
    return range(grid.day_start(day), grid.day_start(day + 1))[day % step :: step]

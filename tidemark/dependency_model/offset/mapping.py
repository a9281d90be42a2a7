"""An offset applied to two grids: from a slice to its inputs, and from a slice to its readers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.all_and_to_date import All, ToDate
from tidemark.dependency_model.offset.around_window import AroundWindow, LastInside
from tidemark.dependency_model.offset.counted import Counted
from tidemark.dependency_model.offset.counted_by_clock import CountedByClock, CountedByDate
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.last_available import Latest
from tidemark.dependency_model.offset.offset import START, Offset, OffsetKind
from tidemark.dependency_model.offset.once import Once
from tidemark.dependency_model.offset.shifted_date import shifted_date
from tidemark.dependency_model.offset.since import Since
from tidemark.dependency_model.offset.to_date_of_periods import to_date_of_periods
from tidemark.dependency_model.offset.workday import CountedWorkdays, WorkdayInside
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid, day_of
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.workdays import workdays
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar


_OWN: Runs = ((0, 0),)
_WORKDAY_KINDS = frozenset([OffsetKind.WORKDAY, OffsetKind.FIRST_WORKDAY, OffsetKind.LAST_WORKDAY])


def mapping_between(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """The mapping of an offset (not `static`) between two grids. Raises ParseError if it has no meaning."""
    if offset.once:
        return _once(offset, down, up)
    calendar, period = down
    grid = calendar.grid(period)
    match offset.kind:
        case OffsetKind.DATE if offset.within is not None:
            return shifted_date(offset.runs, offset.within, grid, up)
        case OffsetKind.SINCE:
            return Since(grid, up, _first(offset, up))
        case OffsetKind.LAST_AVAILABLE:
            return Latest(grid, up)
        case OffsetKind.STATIC:
            raise ParseError(
                "only an upstream of the kind Static has a static slice", found=f"an upstream by {up.period}"
            )
    return _workday(offset, down, up) if offset.kind in _WORKDAY_KINDS else _by_window(offset, down, up)


def _once(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    if not isinstance(up, ClockGrid):
        raise ParseError(
            "a clock never repeats a slice of this length", found=f"{offset} of an upstream by {up.period}"
        )
    return Once(mapping_between(replace(offset, once=False), down, up), up)


def _by_window(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """Offsets relative to the window, or to periods around it."""
    calendar, period = down
    grid, within = calendar.grid(period), _enclosing(offset, period)
    enclosing = calendar.grid(within) if within else grid
    match offset.kind:
        case OffsetKind.ALL:
            return All(grid, up, enclosing, offset.periods)
        case OffsetKind.TO_DATE if offset.periods and within:
            return to_date_of_periods(offset.periods, within, down, up)
        case OffsetKind.TO_DATE:
            return ToDate(grid, up, enclosing)
    inner = LastInside(enclosing, up) if offset.kind is OffsetKind.LAST else _counted(offset, enclosing, up)
    return AroundWindow(inner, grid, enclosing, offset.periods or _OWN) if within else inner


def _workday(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """Raises ParseError if the downstream has no calendar of holidays."""
    calendar, period = down
    if not calendar.holidays:
        raise ParseError(
            "workdays need a calendar of holidays, which the entity does not declare",
            found=str(offset),
            hint="add holidays: weekdays (Monday to Friday), or a country (FR), to the entity or to tidemark.yaml",
        )
    known, grid, days = workdays(calendar.holidays), calendar.grid(period), calendar.grid(Period.DAY)
    if not isinstance(days, DayGrid):
        raise TypeError(f"no days of {days!r}")
    inner = mapping_between(natural_offset(Period.DAY, up.period), (calendar, Period.DAY), up)
    if offset.kind is OffsetKind.WORKDAY:
        return CountedWorkdays(offset.runs, known, inner, grid, days)
    within = _enclosing(offset, period)
    enclosing = calendar.grid(within or period)
    if not isinstance(enclosing, DateGrid):
        raise TypeError(f"no dates of {enclosing!r}")
    chosen = slice(0, 1) if offset.kind is OffsetKind.FIRST_WORKDAY else slice(-1, None)
    return AroundWindow(WorkdayInside(chosen, known, inner, enclosing, days), grid, enclosing, offset.periods or _OWN)


def _first(offset: Offset, up: Grid) -> int:
    """The first slice that is named; for a day, the slice in which it begins."""
    return up.first if offset.since == START else up.at(up.zone.midnight(day_of(offset.since)))


def _enclosing(offset: Offset, period: Period) -> Period | None:
    if offset.within is None and offset.kind is OffsetKind.TO_DATE:
        raise ParseError("to_date needs an enclosing period", hint="write 'to_date month', or declare a granularity")
    if offset.within and offset.within.is_finer_than(period):
        raise ParseError(
            f"a {offset.within} does not contain a {period}", expected=f"{period} or longer", found=str(offset)
        )
    return offset.within


def _counted(offset: Offset, down: Grid, up: Grid) -> Mapping:
    if isinstance(up, ClockGrid) and _is_split_by_clock(down, up):
        return CountedByClock(offset.runs, down, up)
    if isinstance(up, DayGrid) and isinstance(down, DateGrid) and up is not down and up.skipped:
        return CountedByDate(offset.runs, down, up)
    return Counted(offset.runs, down, up)


def _is_split_by_clock(down: Grid, up: ClockGrid) -> bool:
    return up.zone is not down.zone or up.period.is_finer_than(down.period)

"""An offset put between two grids: from a slice to what it needs, and from a slice to what uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.all_and_to_date import All, ToDate
from tidemark.dependency_model.offset.around_window import AroundWindow, LastInside
from tidemark.dependency_model.offset.counted import Counted
from tidemark.dependency_model.offset.counted_by_clock import CountedByClock, CountedByDate
from tidemark.dependency_model.offset.last_available import Latest
from tidemark.dependency_model.offset.offset import START, Offset, OffsetKind
from tidemark.dependency_model.offset.shifted_date import shifted_date
from tidemark.dependency_model.offset.since import Since
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid, day_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period


_OWN: Runs = ((0, 0),)


def mapping_between(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """The mapping of an offset (not `static`) between two grids. Raises ParseError where it has no meaning."""
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
            raise ParseError("only an upstream of kind Static has a static slice", found=f"an upstream by {up.period}")
    within = _enclosing(offset, period)
    enclosing = calendar.grid(within) if within else grid
    match offset.kind:
        case OffsetKind.ALL:
            return All(grid, up, enclosing, offset.periods)
        case OffsetKind.TO_DATE:
            return ToDate(grid, up, enclosing)
    inner = LastInside(enclosing, up) if offset.kind is OffsetKind.LAST else _counted(offset, enclosing, up)
    return AroundWindow(inner, grid, enclosing, offset.periods or _OWN) if within else inner


def _first(offset: Offset, up: Grid) -> int:
    """The first slice that is named: of a day, the one that it begins in."""
    return up.first if offset.since == START else up.at(up.zone.midnight(day_of(offset.since)))


def _enclosing(offset: Offset, period: Period) -> Period | None:
    if offset.within is None and offset.kind is OffsetKind.TO_DATE:
        raise ParseError("to_date needs an enclosing period", hint="write 'to_date month', or declare a granularity")
    if offset.within and offset.within.is_finer_than(period):
        raise ParseError(f"a {offset.within} encloses no {period}", expected=f"{period} or longer", found=str(offset))
    return offset.within


def _counted(offset: Offset, down: Grid, up: Grid) -> Mapping:
    if isinstance(up, ClockGrid) and _is_split_by_clock(down, up):
        return CountedByClock(offset.runs, down, up)
    if isinstance(up, DayGrid) and isinstance(down, DateGrid) and up is not down and up.skipped:
        return CountedByDate(offset.runs, down, up)
    return Counted(offset.runs, down, up)


def _is_split_by_clock(down: Grid, up: ClockGrid) -> bool:
    return up.zone is not down.zone or up.period.is_finer_than(down.period)

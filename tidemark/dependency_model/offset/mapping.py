"""An offset put between two grids: from a slice to what it needs, and from a slice to what uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.offset.all_and_to_date import All, ToDate
from tidemark.dependency_model.offset.counted import Counted
from tidemark.dependency_model.offset.counted_by_clock import CountedByClock, CountedByDate
from tidemark.dependency_model.offset.last_available import Latest
from tidemark.dependency_model.offset.offset import Offset, OffsetKind
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period


class Mapping(Protocol):
    """Both directions in slice numbers; neither knows where an entity starts."""

    def __hash__(self) -> int:
        """One object for one offset between two grids: mappings are compared by identity."""

    def expand(self, down: int) -> Sequence[int]:
        """The upstream slices that a downstream slice needs, in order of time."""

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slices that need an upstream slice, in order of time."""


def mapping_between(offset: Offset, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """The mapping of an offset (not `static`) between two grids. Raises ParseError where it has no meaning."""
    calendar, period = down
    grid = calendar.grid(period)
    if offset.kind is OffsetKind.COUNTED:
        return _counted(offset, grid, up)
    if offset.kind is OffsetKind.LAST_AVAILABLE:
        return Latest(grid, up)
    if offset.kind is OffsetKind.STATIC:
        raise ParseError("only an upstream of kind Static has a static slice", found=f"an upstream by {up.period}")
    within = _enclosing(offset, period)
    enclosing = calendar.grid(within) if within else grid
    return All(grid, up, enclosing) if offset.kind is OffsetKind.ALL else ToDate(grid, up, enclosing)


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

"""An entity's properties that inference needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Column
from tidemark.dependency_model.lineage.known_tables import Table
from tidemark.dependency_model.time.partition_columns import PartitionColumn, time_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period
    from tidemark.dependency_model.time.zone import Zone


@dataclass(frozen=True, slots=True)
class EntityOutline:
    """An entity's time settings, start, and known columns."""

    name: str
    period: Period | None
    calendar: Calendar
    start: str | None = None
    columns: tuple[str, ...] | None = None
    declared: tuple[PartitionColumn, ...] = ()
    """The partition columns that the entity or its project declares."""
    parts: tuple[str, ...] = ()
    """The columns of a row's sub-partition."""

    @property
    def table(self) -> Table:
        """The table as queries see it."""
        return Table(self.name, tuple(column.name for column in self.times), self.columns)

    @property
    def times(self) -> tuple[PartitionColumn, ...]:
        """The columns of a row's business time."""
        return time_columns(self.period, self.declared)

    @property
    def grid(self) -> Grid:
        """Its numbered slices. Raises TypeError for a static entity."""
        if self.period is None:
            raise TypeError(f"{self.name} is static")
        return self.calendar.grid(self.period)


class OutlinedTables(Mapping[str, Table]):
    """The tables of entities, by name in lower case.

    A table is only made when a query names it, because there are thousands.
    """

    def __init__(self, outlines: Mapping[str, EntityOutline]) -> None:
        self._outlines = outlines

    def __getitem__(self, name: str) -> Table:
        outline = self._outlines.get(name)
        return (self._by_small_letters[name] if outline is None else outline).table

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_small_letters)

    def __len__(self) -> int:
        return len(self._by_small_letters)

    @cached_property
    def _by_small_letters(self) -> dict[str, EntityOutline]:
        return {name.lower(): outline for name, outline in self._outlines.items()}


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """The columns of business time of each table."""

    outlines: Mapping[str, EntityOutline]

    def tells_clock(self, part: Bound) -> bool:
        """Whether an expression is a column of a table with slices shorter than a day."""
        return bool(self.clocks(part))

    def clocks(self, part: Bound) -> tuple[Zone, ...]:
        """The clock of that table, if an expression is a column of one with slices shorter than a day."""
        outline = self.outlines.get(part.occurrence.table) if isinstance(part, Column) else None
        is_clock = outline is not None and outline.period is not None and outline.period.is_clock
        return (outline.grid.zone,) if outline is not None and is_clock else ()

    def tells(self, part: Bound, table: str | None = None) -> bool:
        """Whether an expression is a column of business time, of one table or of any."""
        if not isinstance(part, Column) or (table is not None and part.occurrence.table != table):
            return False
        outline = self.outlines.get(part.occurrence.table)
        return outline is not None and any(column.name == part.name for column in outline.times)


@dataclass(frozen=True, slots=True)
class QuerySession:
    """The time zone of Spark's session, which decides the dates of timestamps."""

    time_zone: str = "UTC"

"""What an entity is to inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tidemark.dependency_model.lineage.bound_expression import Column
from tidemark.dependency_model.lineage.known_tables import Table
from tidemark.dependency_model.time.partition_columns import PartitionColumn, time_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period


@dataclass(frozen=True, slots=True)
class EntityOutline:
    """What an entity is to inference: how time cuts it, and from when on."""

    name: str
    period: Period | None
    calendar: Calendar
    start: str | None = None
    columns: tuple[str, ...] | None = None
    declared: tuple[PartitionColumn, ...] = ()
    """The partition columns that it or its project declares."""

    @property
    def table(self) -> Table:
        """What a query sees of it."""
        return Table(self.name, tuple(column.name for column in self.times), self.columns)

    @property
    def times(self) -> tuple[PartitionColumn, ...]:
        """The columns that tell a row's slice."""
        return time_columns(self.period, self.declared)

    @property
    def grid(self) -> Grid:
        """Its numbered slices. Raises TypeError where it has none."""
        if self.period is None:
            raise TypeError(f"{self.name} is static")
        return self.calendar.grid(self.period)


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """Which columns of which tables tell slices."""

    names: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, subjects: Mapping[str, EntityOutline]) -> Self:
        """Of the tables of entities, by name."""
        return cls({name: frozenset(column.name for column in subject.times) for name, subject in subjects.items()})

    def tells(self, part: Bound, table: str | None = None) -> bool:
        """Whether an expression is such a column, of one table or of any."""
        if not isinstance(part, Column) or (table is not None and part.occurrence.table != table):
            return False
        return part.name in self.names.get(part.occurrence.table, ())


@dataclass(frozen=True, slots=True)
class QuerySession:
    """The time zone of Spark's session, which dates of timestamps go by."""

    time_zone: str = "UTC"

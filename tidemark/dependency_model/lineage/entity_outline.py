"""What an entity is to inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.known_tables import Table
from tidemark.dependency_model.time.partition_columns import partition_columns

if TYPE_CHECKING:
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

    @property
    def table(self) -> Table:
        """What a query sees of it."""
        return Table(self.name, partition_columns(self.period), self.columns)

    @property
    def grid(self) -> Grid:
        """Its numbered slices. Raises TypeError where it has none."""
        if self.period is None:
            raise TypeError(f"{self.name} is static")
        return self.calendar.grid(self.period)


@dataclass(frozen=True, slots=True)
class QuerySession:
    """The time zone of Spark's session, which dates of timestamps go by."""

    time_zone: str = "UTC"

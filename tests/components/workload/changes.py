"""What the workload does, as values: row changes and schema changes with the simulated instant at which they happen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.components.workload.schema import Instance

Value = int | str | Decimal | datetime | date | None
Operation = Literal["insert", "update", "delete"]


@dataclass(frozen=True)
class Settings:
    """What to play: Paris days from `first_day` on, about `changes_per_day` row changes a day."""

    first_day: date = date(2026, 3, 23)
    days: int = 9
    changes_per_day: int = 18_500
    seed: int = 20260323


@dataclass(frozen=True)
class RowChange:
    """One row inserted (`values`: the whole row), updated (`values`: the changed columns) or deleted (none)."""

    at: int
    instance: Instance
    table: str
    operation: Operation
    key: int
    values: Mapping[str, Value]


@dataclass(frozen=True)
class SchemaChange:
    """One DDL statement; table None: the database itself."""

    at: int
    instance: Instance
    table: str | None
    ddl: str


Change = RowChange | SchemaChange

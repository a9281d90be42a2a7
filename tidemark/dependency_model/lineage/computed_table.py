"""The table that a query's file computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.dependency_model.time.partition_columns import PartitionColumn
    from tidemark.dependency_model.time.period import Period


@dataclass(frozen=True, slots=True)
class ComputedTable:
    """The entity of a file: its name, and the columns of business time; `times` are the declared ones."""

    entity: str
    columns: tuple[str, ...] = ()
    period: Period | None = None
    times: tuple[PartitionColumn, ...] = ()

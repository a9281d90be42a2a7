"""The tables that a query may read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.lineage.parsed_query import Query


@dataclass(frozen=True, slots=True)
class Table:
    """`partition_columns` identify a row's slice; `columns` are the others, None if unknown."""

    name: str
    partition_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables by name, and views: queries that stand for tables."""

    tables: Mapping[str, Table]
    views: Mapping[str, Query] = field(default_factory=dict)

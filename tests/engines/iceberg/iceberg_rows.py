"""The lake of the engines' tests with Iceberg metadata, and what PyIceberg reads there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.table import StaticTable

from tests.compute.small_warehouse import small_warehouse
from tests.engines.canonical_rows import canonical_rows
from tidemark.compute.runtime import Runtime
from tidemark.delta.iceberg_metadata import ICEBERG_FOLDER
from tidemark.engines.iceberg.iceberg_tables import IcebergTables
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def lake_of(folder: Path, declared: Mapping[str, str]) -> Runtime:
    """A project whose tables tests write by hand; all are read by Iceberg."""
    tables = {name: (f"{yaml}read_by: [iceberg]\n", "SELECT 1 AS n\n") for name, yaml in declared.items()}
    runtime = Runtime(small_warehouse(folder, tables))
    StateStore.of(runtime.warehouse.settings).close()
    return runtime


def written(runtime: Runtime, entity: str) -> int | None:
    """The number of tags after a call that must not fail."""
    told = IcebergTables(runtime.warehouse, runtime.database).write(entity)
    assert not told.why
    return told.tags


def iceberg_table(runtime: Runtime, entity: str) -> StaticTable:
    return StaticTable.from_metadata(str(runtime.warehouse.settings.warehouse / ICEBERG_FOLDER / entity))


def tags(runtime: Runtime, entity: str) -> set[str]:
    return {name for name, ref in iceberg_table(runtime, entity).refs().items() if ref.snapshot_ref_type == "tag"}


def rows_of(runtime: Runtime, entity: str, tag: str = "main") -> list[dict[str, Any]]:
    table = iceberg_table(runtime, entity)
    snapshot = table.snapshot_by_name(tag)
    assert snapshot is not None, tag
    rows: list[dict[str, Any]] = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().to_pylist()
    return rows


def same_rows(read: pa.Table | list[dict[str, Any]], expected: pa.Table | list[dict[str, Any]]) -> bool:
    lists = (rows.to_pylist() if isinstance(rows, pa.Table) else rows for rows in (read, expected))
    first, second = map(canonical_rows, lists)
    return first == second

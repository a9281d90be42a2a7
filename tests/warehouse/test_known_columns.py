"""Columns of tables that no query computes: from YAML, or from the table's log where it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tidemark.dependency_model.graph import DependencyGraph
from tidemark.system.settings import Settings
from tidemark.warehouse.column_graph import ColumnGraph, column_graph
from tidemark.warehouse.declarations import read_declarations

if TYPE_CHECKING:
    from pathlib import Path

_CAPTURED = "{period: day, kind: Snapshot, source: {table: s.orders, instances: [a]}, key: [id]%s}\n"
_FILES = {
    "project.yaml": "start: 2026-03-23\n",
    "orders.yaml": _CAPTURED % "",
    "orders_1h.yaml": "{period: hour, kind: Snapshot, snapshot_of: orders, start: 2026-03-23T00}\n",
    "users.yaml": "{period: day, kind: Virtual, columns: [id, city]}\n",
    "gmv.yaml": "period: day\n",
    "gmv.sql": """SELECT city, sum(amount) AS gmv FROM orders JOIN users ON users.id = user_id AND users.dt = orders.dt
WHERE orders.dt = :biz_date GROUP BY city\n""",
    "copied.yaml": "period: hour\nstart: 2026-03-23T00\n",
    "copied.sql": "SELECT * FROM orders_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "declared").mkdir()
    for name, text in _FILES.items():
        (tmp_path / "declared" / name).write_text(text)
    return tmp_path


def _graph(root: Path) -> ColumnGraph:
    settings, folder = Settings.at(root / "data"), root / "declared"
    read = read_declarations(folder, settings).require_no_problems()
    order = DependencyGraph.build(read.entities).topological()
    return column_graph(order, read.entities, read.queries, folder, settings)


def _write(root: Path, columns: str) -> None:
    table = pa.table({name: pa.array([], pa.int64()) for name in columns.split()})
    write_deltalake(
        str(Settings.at(root / "data").warehouse / "orders"), table, mode="overwrite", schema_mode="overwrite"
    )


def test_nothing_has_to_be_known(root: Path) -> None:
    columns = _graph(root)
    assert columns.columns("users") == ("id", "city", "dt")
    assert columns.up("gmv.gmv") == ("orders.amount",)
    assert columns.up("copied.*") == ("orders_1h.*",)


def test_a_table_that_is_there_tells_its_columns(root: Path) -> None:
    _graph(root)
    _write(root, "id user_id Amount _shard")
    columns = _graph(root)
    assert columns.columns("orders") == ("id", "user_id", "amount", "_shard", "dt")
    assert columns.up("copied.amount") == ("orders_1h.amount",)
    assert columns.columns("copied") == ("dt", "hour", "id", "user_id", "amount", "_shard")
    _write(root, "id user_id amount note")
    assert "note" in _graph(root).columns("copied")


def test_a_table_behind_its_source_stops_no_query(root: Path) -> None:
    _write(root, "id user_id")
    columns = _graph(root)
    assert columns.up("gmv.gmv") == ("orders.amount",)
    assert columns.columns("copied") == ("dt", "hour", "id", "user_id")


def test_columns_listed_in_yaml_apply_to_queries(root: Path) -> None:
    (root / "declared" / "orders.yaml").write_text(_CAPTURED % ", columns: [id, user_id, total]")
    read = read_declarations(root / "declared", Settings.at(root / "data"))
    (problem,) = read.problems
    assert (problem.message, problem.found, problem.where) == ("no such column", "amount", "gmv.sql:1:18")
    (root / "declared" / "orders.yaml").write_text(_CAPTURED % ", columns: [id, user_id, amount]")
    assert _graph(root).columns("copied") == (
        *("dt", "hour", "id", "user_id", "amount"),
        *("_shard", "_event_time", "_offset"),
    )


def test_a_column_is_listed_once(root: Path) -> None:
    (root / "declared" / "users.yaml").write_text("{period: day, kind: Virtual, columns: [id, city, Id]}\n")
    (problem,) = read_declarations(root / "declared", Settings.at(root / "data")).problems[:1]
    assert problem.message == "a column that is listed twice"

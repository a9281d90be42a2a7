"""Rows of a slice in a real PostgreSQL and in DuckDB: its partition is swapped, all others stay."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg2
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.components.fixtures import ON_POSTGRESQL
from tests.olap.servers import PASSWORD, url_of
from tests.refresh.world import refreshed_slice
from tidemark.dependency_model.refresh.delivery import RefreshAction
from tidemark.olap.errors import OlapTableMissingError
from tidemark.refresh.adapters.database_tables import DatabaseTables
from tidemark.refresh.errors import TargetDownError
from tidemark.refresh.open_target import open_target
from tidemark.system.free_port import free_port
from tidemark.system.refresh_target import RefreshTarget, TargetKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres
    from tidemark.olap.store import OlapStore

_VIEW = 'CREATE MATERIALIZED VIEW "{view}" AS SELECT dt, sum(amount) AS s FROM "{table}" GROUP BY 1'
DAYS = [date(2026, 3, 28), date(2026, 3, 29)]


def write(path: Path, amount: int) -> int:
    """Both days and both regions, each with rows of that amount; the version that has them."""
    rows = [(day, region, amount + number) for day in DAYS for region in ("eu", "us") for number in range(2)]
    columns = dict(zip(("dt", "region", "amount"), map(list, zip(*rows, strict=True)), strict=True))
    write_deltalake(str(path), pa.table(columns), mode="overwrite", partition_by=["dt", "region"])
    return DeltaTable(str(path)).version()


@pytest.fixture(params=["duckdb", ON_POSTGRESQL])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> RefreshTarget:
    return RefreshTarget("serving", TargetKind(request.param), file="serving.duckdb")


@pytest.fixture
def adapter(target: RefreshTarget, request: pytest.FixtureRequest, tmp_path: Path) -> DatabaseTables:
    env = {}
    if target.kind is TargetKind.POSTGRESQL:
        env = {"TIDEMARK_TARGET_SERVING": url_of(request.getfixturevalue("postgres_server"))}
    adapter = open_target(target, tmp_path, env)
    assert isinstance(adapter, DatabaseTables)
    return adapter


@pytest.fixture
def table() -> str:
    return f"sales {uuid4().hex[:8]} 100%"


def amounts(store: OlapStore, table: str) -> dict[tuple[date, str], list[int]]:
    found: dict[tuple[date, str], list[int]] = {}
    for row in store.read(table, {}).to_pylist():
        found.setdefault((row["dt"], row["region"]), []).append(row["amount"])
    return {key: sorted(values) for key, values in found.items()}


def test_the_rows_of_the_version_replace_those_of_the_slice_alone(
    adapter: DatabaseTables, table: str, tmp_path: Path
) -> None:
    store = adapter._store
    source = tmp_path / "sales"
    first, second = write(source, 0), write(source, 10)
    made = f"[{{target: serving, table: '{table}'}}]"
    for day in DAYS:
        for region in ("eu", "us"):
            adapter.deliver(refreshed_slice(made, region, day=str(day), version=str(first), table=source))
    assert set(map(tuple, amounts(store, table).values())) == {(0, 1)}
    for _ in range(2):
        adapter.deliver(refreshed_slice(made, "eu", version=str(second), table=source))
        changed = {key for key, values in amounts(store, table).items() if values == [10, 11]}
        assert changed == {(DAYS[1], "eu")}
    adapter.deliver(refreshed_slice(made, "us", action=RefreshAction.INVALIDATE, table=source))
    assert amounts(store, table).keys() == {(DAYS[0], "eu"), (DAYS[0], "us"), (DAYS[1], "eu")}
    kept = f"[{{target: serving, table: '{table}', when_invalid: keep}}]"
    adapter.deliver(refreshed_slice(kept, "eu", action=RefreshAction.INVALIDATE, table=source))
    assert len(amounts(store, table)) == 3


def test_without_a_table_there_is_nothing_to_remove(adapter: DatabaseTables, table: str, tmp_path: Path) -> None:
    made = f"[{{target: serving, table: '{table}'}}]"
    adapter.deliver(refreshed_slice(made, "eu", action=RefreshAction.INVALIDATE, table=tmp_path / "sales"))


@pytest.mark.components
@pytest.mark.parametrize("index", ["", 'CREATE UNIQUE INDEX ON "{view}" (dt)'])
def test_a_materialized_view_is_computed_after_its_table(
    postgres_server: Postgres, table: str, tmp_path: Path, index: str
) -> None:
    source, view = tmp_path / "sales", f"{table} v"
    write(source, 0)
    made = f"[{{target: serving, view: '{view}'}}, {{target: serving, table: '{table}'}}]"
    target = RefreshTarget("serving", TargetKind.POSTGRESQL)
    adapter = open_target(target, tmp_path, {"TIDEMARK_TARGET_SERVING": url_of(postgres_server)})
    with pytest.raises(OlapTableMissingError):
        adapter.deliver(refreshed_slice(made, "eu", table=source))
    with psycopg2.connect(postgres_server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute(_VIEW.format(view=view, table=table))
        if index:
            cursor.execute(index.format(view=view))
    connection.close()
    adapter.deliver(refreshed_slice(made, "us", table=source))
    with psycopg2.connect(postgres_server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute(f'TABLE "{view}"')
        assert cursor.fetchall() == [(DAYS[1], 2)]
    connection.close()


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "sales", 0)
    url = f"postgresql://u:{PASSWORD}@127.0.0.1:{free_port()}/db"
    adapter = open_target(RefreshTarget("serving", TargetKind.POSTGRESQL), tmp_path, {"TIDEMARK_TARGET_SERVING": url})
    with pytest.raises(TargetDownError) as down:
        adapter.deliver(refreshed_slice("[{target: serving, table: t}]", "eu", table=tmp_path / "sales"))
    assert PASSWORD not in str(down.value)

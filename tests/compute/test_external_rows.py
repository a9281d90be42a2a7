"""Rows of other systems wherever they lie: the query sees just what the probe saw, or is refused - never no rows."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import computer, rows
from tidemark.compute.errors import ExternalRowsError, RowsMissingError
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

KEY = "2026-03-24"
DAY = date(2026, 3, 24)
ROWS = [("cn", 11), ("eu", 5), ("eu", 7)]
OTHERS = [("cn", 1_000)]
"""Of the day before, at the same place."""


def delta(folder: Path) -> str:
    for key, rows_ in (("2026-03-23", OTHERS), (KEY, ROWS)):
        table = pa.table({"city": [c for c, _ in rows_], "cost": [n for _, n in rows_], "dt": [key] * len(rows_)})
        write_deltalake(str(folder / "spend"), table, mode="append", partition_by=["dt"])
    return f"delta: {{table: '{folder}/spend', partition: {{dt: '{{key}}'}}}}"


def files(form: str) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        for key, rows_ in (("2026-03-23", OTHERS), (KEY, ROWS)):
            place = folder / "spend" / f"dt={key}"
            place.mkdir(parents=True)
            ending, options = {"csv": ("csv.gz", "HEADER, COMPRESSION gzip")}.get(form, (form, f"FORMAT {form}"))
            values = ", ".join(f"('{city}', {cost})" for city, cost in rows_)
            duckdb.execute(f"COPY (SELECT * FROM (VALUES {values}) t(city, cost)) TO '{place}/a.{ending}' ({options})")  # noqa: S608
            (place / "_SUCCESS").touch()
        return f"files: {{path: '{folder}/spend/dt={{key}}', marker: _SUCCESS}}"

    return write


def partitions(folder: Path) -> str:
    files("parquet")(folder)
    return f"partitions: {{path: '{folder}/spend', partition: {{dt: '{{key}}'}}}}"


def sql(folder: Path) -> str:
    with sqlite3.connect(folder / "partner.db") as database:
        database.execute("CREATE TABLE spend (city TEXT, cost INTEGER, at TEXT)")
        for day, rows_ in (("2026-03-23", OTHERS), (KEY, ROWS)):
            database.executemany("INSERT INTO spend VALUES (?, ?, ?)", [(*row, f"{day} 12:00:00") for row in rows_])
    return f"sql: {{url: 'sqlite:///{folder}/partner.db', table: spend, time_column: at}}"


def warehouse_of(folder: Path, probe: str, more: str = "columns: [city, cost]") -> Warehouse:
    query = "SELECT city, sum(cost) AS cost FROM spend WHERE dt = :biz_date GROUP BY city\n"
    virtual = f"period: day\nkind: Virtual\n{more}\n" + (f"probe:\n  {probe}\n" if probe else "")
    by_city = "period: day\ndepends_on: [{entity: spend, offset: Set 0}]\n"
    return small_warehouse(folder, {"spend": (virtual, ""), "by_city": (by_city, query)})


def compute(spark: SparkSession, warehouse: Warehouse, version: str = "") -> list[tuple[object, ...]]:
    slice_ = Slice("by_city", KEY)
    used = (UsedSlice(Slice("spend", KEY), 1, version),)
    manifest = SliceManifest(slice_, "completed", (ManifestClause("spend", Reason.ALL, used),))
    computer(spark, warehouse).compute([slice_], {slice_: manifest})
    return [(city, cost) for city, cost in rows(warehouse, "by_city", DAY)]


@pytest.mark.parametrize(
    "write",
    [delta, files("parquet"), files("csv"), files("json"), partitions, sql],
    ids=["delta", "parquet", "csv", "json", "partitions", "sql"],
)
def test_a_query_reads_the_rows_that_the_probe_saw(
    spark: SparkSession, tmp_path: Path, write: Callable[[Path], str]
) -> None:
    assert compute(spark, warehouse_of(tmp_path, write(tmp_path))) == [("cn", 11), ("eu", 12)]


def test_a_delta_table_is_read_at_the_version_that_was_seen(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = warehouse_of(tmp_path, delta(tmp_path), more="")
    write_deltalake(str(tmp_path / "spend"), pa.table({"city": ["cn"], "cost": [1_000], "dt": [KEY]}), mode="append")
    assert compute(spark, warehouse, "1") == [("cn", 11), ("eu", 12)]
    assert compute(spark, warehouse, "2") == [("cn", 1_011), ("eu", 12)]


@pytest.mark.parametrize("probe", ["", "dagster: {asset: a, partition: '{key}'}", "counts: {of: spend}"])
def test_external_data_without_rows_is_refused(spark: SparkSession, tmp_path: Path, probe: str) -> None:
    with pytest.raises(ExternalRowsError, match="the place of the rows of spend is not known"):
        compute(spark, warehouse_of(tmp_path, probe))


def test_missing_external_data_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = warehouse_of(tmp_path, files("parquet")(tmp_path))
    for file in (tmp_path / "spend" / f"dt={KEY}").iterdir():
        file.unlink()
    with pytest.raises(ExternalRowsError, match=r"external data has disappeared.*it has no files"):
        compute(spark, warehouse)


def granted(reader: str, upstream: str) -> dict[Slice, SliceManifest]:
    slice_ = Slice(reader, KEY)
    clause = ManifestClause(upstream, Reason.ALL, (UsedSlice(Slice(upstream, KEY), 1, "0"),))
    return {slice_: SliceManifest(slice_, "completed", (clause,))}


@pytest.mark.parametrize("is_granted", [True, False])
def test_a_table_of_our_own_that_is_not_there_is_not_a_table_without_rows(
    spark: SparkSession, tmp_path: Path, *, is_granted: bool
) -> None:
    """Somebody moved its folder away, and has the reader computed again."""
    warehouse, slice_ = small_warehouse(tmp_path), Slice("totals", KEY)
    with pytest.raises(RowsMissingError, match=r"totals@2026-03-24 reads sales, whose rows are missing.*no table"):
        computer(spark, warehouse).compute([slice_], granted("totals", "sales") if is_granted else {})
    assert not warehouse.table_path("totals").joinpath("_delta_log").exists()  # type: ignore[union-attr]

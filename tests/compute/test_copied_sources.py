"""`source:` in one line: files, databases and Delta tables of others become slices of a table of the lake."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from tests.compute.copied_table import NAME, CopiedTable
from tidemark.compute.errors import ExternalRowsError
from tidemark.errors import EntityErrors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KEY, DAY = "2026-03-24", date(2026, 3, 24)
ROWS = [{"id": 1, "city": "Paris", "amount": Decimal("10.50")}, {"id": 2, "city": "Lyon", "amount": Decimal("3.00")}]
TYPED = 'columns: {id: BIGINT, city: , amount: "DECIMAL(12, 2)"}\n'


def csv(path: Path) -> None:
    path.write_text("id,city,amount\n" + "".join(f"{row['id']},{row['city']},{row['amount']}\n" for row in ROWS))


def json_lines(path: Path) -> None:
    path.write_text("".join(json.dumps({**row, "amount": float(row["amount"])}) + "\n" for row in ROWS))  # type: ignore[arg-type]


def parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), path)


@pytest.mark.parametrize(
    ("pattern", "file", "write"),
    [
        ("orders/{dt}/*.csv", "orders/2026-03-24/a.csv", csv),
        pytest.param("orders/{dt}", "orders/2026-03-24/a.jsonl", json_lines, marks=pytest.mark.long),
        pytest.param("orders-{start:%Y%m%d}.csv", "orders-20260324.csv", csv, marks=pytest.mark.long),
        ("{key}-*.parquet", "2026-03-24-part?.parquet", parquet),
    ],
    ids=["csv of a folder", "a folder", "a file a day", "parquet beside others"],
)
def test_files_are_copied_by_one_line(
    spark: SparkSession, tmp_path: Path, pattern: str, file: str, write: Callable[[Path], None]
) -> None:
    landing = tmp_path / "land"
    table = CopiedTable(tmp_path, f"period: day\nsource: {landing}/{pattern}\n{TYPED}")
    assert not table.look(KEY).is_there
    for name in (file, file.replace("24", "25")):
        (landing / name).parent.mkdir(parents=True, exist_ok=True)
        write(landing / name)
    (landing / "readme.txt").write_text("of the partner")
    if "*" in pattern:
        (landing / file).with_suffix(".tmp").write_text("half a file")
    assert table.copy(spark, KEY)
    assert table.rows({"dt": DAY}) == ROWS


def test_columns_without_a_cast_stay_unchanged(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / KEY).mkdir()
    csv(tmp_path / KEY / "a.csv")
    table = CopiedTable(tmp_path, f"period: day\nsource: {tmp_path}/{{dt}}\n")
    assert table.copy(spark, KEY)
    assert table.rows({"dt": DAY}) == [{name: str(value) for name, value in row.items()} for row in ROWS]


def test_a_marker_completes_a_slice_and_other_rows_are_another_content(tmp_path: Path) -> None:
    yaml = f"period: day\nsource:\n  files: {{path: '{tmp_path}/{{dt}}-*.csv', marker: '{{dt}}.done'}}\n"
    table = CopiedTable(tmp_path, yaml)
    csv(tmp_path / f"{KEY}-1.csv")
    assert table.look(KEY).why == f"1 files, no {KEY}.done"
    (tmp_path / f"{KEY}.done").touch()
    before = table.look(KEY)
    assert before.is_there
    (tmp_path / "2026-03-25-1.csv").write_text("of another day\n")
    assert table.look(KEY).content == before.content
    csv(tmp_path / f"{KEY}-2.csv")
    assert table.look(KEY).content != before.content


def test_a_broken_rule_holds_the_copied_slice(spark: SparkSession, tmp_path: Path) -> None:
    csv(tmp_path / f"{KEY}.csv")
    rules = "quality: [{accepted_values: {column: city, values: [Paris]}}]\n"
    table = CopiedTable(tmp_path, f"period: day\nsource: {tmp_path}/{{dt}}.csv\n{TYPED}{rules}")
    assert not table.copy(spark, KEY)


def test_a_value_of_another_type_is_refused_and_not_made_null(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.csv").write_text("id,city,amount\nmany,Paris,1\n")
    table = CopiedTable(tmp_path, f"period: day\nsource: {tmp_path}/{{dt}}.csv\n{TYPED}")
    with pytest.raises(Exception, match=r"CAST_INVALID_INPUT.*many"):
        table.copy(spark, KEY)


def test_hours_of_a_database_follow_its_column_of_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour without a row is complete, and empty, once a later row is there."""
    monkeypatch.setenv("SHOP_DB", f"sqlite:///{tmp_path}/shop.db")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database, database:
        database.execute("CREATE TABLE orders (id INTEGER, amount REAL, at TEXT)")
        rows = [(1, 1.5, "2026-03-24 08:59:59"), (2, 2.0, "2026-03-24 09:00:00"), (3, 9.0, "2026-03-24 11:00:01")]
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    source = "source: {sql: {url: '${SHOP_DB}', table: orders, time_column: at}}"
    table = CopiedTable(tmp_path, f"period: hour\n{source}\n")
    utc_nine, utc_ten, utc_eleven = "2026-03-24T10", "2026-03-24T11", "2026-03-24T12"
    assert [table.look(key).is_there for key in (utc_nine, utc_ten, utc_eleven)] == [True, True, False]
    assert table.copy(spark, utc_nine)
    assert table.copy(spark, utc_ten)
    assert table.rows({"dt": DAY, "hour": "10"}) == [{"id": 2, "amount": 2.0, "at": "2026-03-24 09:00:00"}]
    assert table.rows({"dt": DAY, "hour": "11"}) == []


PARIS = ZoneInfo("Europe/Paris")
MIDNIGHT = datetime(2026, 3, 24, tzinfo=PARIS)


@pytest.mark.parametrize("form", [pytest.param("instant", marks=pytest.mark.long), "wall clock", "date"])
def test_a_delta_table_of_others_is_cut_by_its_column_of_time(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """By days of Paris: a time without a zone is one of its clock."""
    first, last = MIDNIGHT, datetime(2026, 3, 24, 23, 59, 59, tzinfo=PARIS)
    before, after = datetime(2026, 3, 23, 23, 59, 59, tzinfo=PARIS), datetime(2026, 3, 25, 0, 0, 1, tzinfo=PARIS)

    def cell(at: datetime) -> datetime | date:
        return {"instant": at.astimezone(UTC), "wall clock": at.replace(tzinfo=None), "date": at.date()}[form]

    kind = {"instant": pa.timestamp("us", "UTC"), "wall clock": pa.timestamp("us"), "date": pa.date32()}[form]

    def append(rows: list[tuple[int, datetime]]) -> None:
        at = pa.array([cell(when) for _, when in rows], kind)
        write_deltalake(str(tmp_path / "orders"), pa.table({"id": [n for n, _ in rows], "at": at}), mode="append")

    table = CopiedTable(tmp_path, f"period: day\nsource: {{delta: {{table: '{tmp_path}/orders', time_column: at}}}}\n")
    append([(1, before), (2, first), (3, last)])
    assert not table.look(KEY).is_there, "no later row"
    append([(4, after)])
    seen = table.look(KEY)
    assert (seen.is_there, seen.rows) == (True, 2)
    assert table.copy(spark, KEY)
    assert [row["id"] for row in table.rows({"dt": DAY})] == [2, 3]
    append([(5, after)])
    assert table.look(KEY).content == seen.content, "rows of another day"
    append([(6, last)])
    assert table.look(KEY).content != seen.content


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("source: landing/orders/*.csv\n", "ods_orders.yaml:2: the probe would check the same data for every slice"),
        ("source: {files: 'l/{dt}', done: x}\n", "ods_orders.yaml:2: unknown key 'done'"),
        ("source:\n  sql: {url: 'postgresql://me:pw@h/d', table: t, time_column: at}\n", "a password in a declaration"),
        ("source: 'l/{region}/{dt}'\n", "the slice has no part with this name"),
        ("source: 'l/*/{dt}.csv'\n", "only the last part of a path can be a pattern"),
        ("source: 'l/{dt}'\ncolumns: {id: 'BIGINT; DROP'}\n", "ods_orders.yaml:3: columns.id: no type"),
        ("source: 'l/{dt}'\ncolumns:\n  amount: DECIMAL(12\n", "ods_orders.yaml:4: columns.amount: no type"),
        ("source: 'l/{dt}'\nkind: Static\n", "a Static entity has no period"),
    ],
)
def test_an_invalid_copy_is_refused_with_its_line(tmp_path: Path, yaml: str, expected: str) -> None:
    with pytest.raises(EntityErrors) as raised:
        CopiedTable(tmp_path, f"period: day\n{yaml}")
    told = "\n".join(map(str, raised.value.problems))
    assert expected in told
    assert told.count(expected) == 1


def test_a_query_may_read_the_source_directly(spark: SparkSession, tmp_path: Path) -> None:
    csv(tmp_path / f"{KEY}.csv")
    query = "SELECT upper(city) AS city FROM ods_orders_source WHERE dt = :biz_date AND id = '1'\n"
    table = CopiedTable(tmp_path, f"period: day\nsource: {tmp_path}/{{dt}}.csv\n", query)
    assert table.warehouse.queries[NAME].strip() == query.strip()
    assert table.copy(spark, KEY)
    assert table.rows({"dt": DAY}) == [{"city": "PARIS"}]
    with pytest.raises(EntityErrors, match="its query says which types its columns have"):
        CopiedTable(tmp_path / "typed", f"period: day\nsource: {tmp_path}/{{dt}}.csv\n{TYPED}", query)


def test_files_that_are_gone_are_not_a_slice_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    table = CopiedTable(tmp_path, f"period: day\nsource: {tmp_path}/d/{{dt}}*.csv\n")
    csv(tmp_path / "d" / f"{KEY}.csv")
    assert table.copy(spark, KEY)
    (tmp_path / "d" / f"{KEY}.csv").unlink()
    assert not table.look(KEY).is_there
    with pytest.raises(ExternalRowsError, match="it has no files"):
        table.compute(spark, KEY)

"""Queries are analysed over known columns, once for each state of what they read."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.project import write_project
from tidemark.compute.query_analysis import QueryAnalysis
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ORDERS = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
GOOD = "SELECT o.city, sum(o.amount) AS gmv\nFROM ods_orders AS o\nWHERE o.dt = :biz_date\nGROUP BY o.city\n"
ABOVE = "SELECT city, gmv * 2 AS twice\nFROM dws_gmv\nWHERE dt = :biz_date\n"


class Project:
    """Two queries, one over the other, over a captured table that is there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = Settings.at(root / "data", root=str(root))
        self.starts = 0

    def write(self, gmv: str = GOOD, above: str = ABOVE) -> None:
        self.settings.data.mkdir(exist_ok=True)
        declared = {"ods/ods_orders.yaml": ORDERS, "dws/dws_gmv.yaml": "period: day\n", "dws/dws_gmv.sql": gmv}
        write_project(self.root, {**declared, "ads/ads_gmv.yaml": "period: day\n", "ads/ads_gmv.sql": above})

    def write_rules(self, *rules: str) -> None:
        lines = "".join(f"  - {rule}\n" for rule in rules)
        (self.root / "warehouse_assets" / "dws" / "dws_gmv.yaml").write_text(f"period: day\nquality:\n{lines}")

    def capture(self, columns: dict[str, pa.Array]) -> None:
        path = self.settings.warehouse / "ods_orders"
        write_deltalake(str(path), pa.table(columns), mode="overwrite", schema_mode="overwrite")

    def goes_by_clock(self, spark: SparkSession, zone: str) -> bool:
        (self.root / "tidemark.yaml").write_text(f"time_zone: {zone}\n")
        return QueryAnalysis(load_warehouse(self.settings), lambda: spark).goes_by_clock("dws_gmv")

    def problems(self, spark: SparkSession | None) -> list[tuple[str | None, str]]:
        def start() -> SparkSession:
            assert spark is not None, "nothing is new, and Spark was started"
            self.starts += 1
            return spark

        return [
            (problem.where, problem.message)
            for problem in QueryAnalysis(load_warehouse(self.settings), start).problems().values()
        ]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    write_project(tmp_path, {})
    made = Project(tmp_path)
    made.write()
    return made


COLUMNS = {
    "id": pa.array([1]),
    "city": pa.array(["Lyon"]),
    "amount": pa.array([5]),
    "paid": pa.array([date(2026, 3, 1)]),
}


def test_before_the_first_capture_nothing_is_known_and_no_spark_starts(project: Project) -> None:
    assert project.problems(None) == []


@pytest.mark.spark
def test_sparks_errors_have_a_line_and_are_cached(project: Project, spark: SparkSession) -> None:
    project.capture(COLUMNS)
    assert project.problems(spark) == []
    assert project.problems(None) == []
    assert project.starts == 1
    project.write(gmv=GOOD.replace("sum(o.amount)", "countt(*)"))
    ((where, message),) = project.problems(spark)
    assert where == "dws/dws_gmv.sql:1:16"
    assert "UNRESOLVED_ROUTINE" in message
    assert project.problems(None) == [(where, message)]
    project.write(gmv=GOOD.replace("o.city\n", "o.paid_todai\n"))
    ((where, message),) = project.problems(spark)
    assert (where, "paid_todai" in message) == ("dws/dws_gmv.sql:4:10", True)
    project.write(above=ABOVE.replace("gmv * 2", "gmv + dt"))
    ((where, message),) = project.problems(spark)
    assert (where, "DATATYPE_MISMATCH" in message) == ("ads/ads_gmv.sql:1:14", True)


@pytest.mark.spark
def test_a_removed_column_is_an_error_in_its_readers(project: Project, spark: SparkSession) -> None:
    project.capture(COLUMNS)
    assert project.problems(spark) == []
    project.capture({name: column for name, column in COLUMNS.items() if name != "city"})
    assert [where for where, _ in project.problems(spark)] == ["dws/dws_gmv.sql:1:8"]


def test_a_cache_that_cannot_be_read_is_none(project: Project) -> None:
    (project.settings.data / "cache").mkdir()
    for path in (project.settings.data / "cache").glob("*"):
        path.write_text(json.dumps([]))
    assert project.problems(None) == []


@pytest.mark.spark
def test_a_rule_over_a_missing_column_is_an_error_with_its_line(project: Project, spark: SparkSession) -> None:
    project.capture(COLUMNS)
    project.write_rules("not_null: [city]", "range: {column: gmw, min: 0}")
    ((where, message),) = project.problems(spark)
    assert where == "dws/dws_gmv.yaml:4"
    assert message.startswith("range: [UNRESOLVED_COLUMN")
    assert project.problems(None) == [(where, message)]
    project.write_rules("not_null: [city]", "range: {column: gmv, min: 0}", "expression: {holds: gmv + city > DATE'x'}")
    ((where, message),) = project.problems(spark)
    assert (where, message.partition(":")[0]) == ("dws/dws_gmv.yaml:5", "expression")
    project.write_rules("not_null: {columns: [city, dt], where: gmv > 0}", "unique: [city]")
    assert project.problems(spark) == []


CLOCKS = {
    "at": pa.array([1], pa.timestamp("us", "UTC")),
    "seen": pa.array([1], pa.timestamp("us")),
    "day": pa.array([date(2026, 3, 1)]),
    "id": pa.array([1]),
}


GO_BY_CLOCK = (
    "to_date(at)",
    "hour(at)",
    "date_trunc('DAY', at)",
    "CAST(seen AS TIMESTAMP)",
    "CAST(at AS STRING)",
    "TIMESTAMP'2026-03-23 00:00:00'",
    "to_timestamp('2026-03-23')",
    "current_date()",
    "to_date(:period_start)",
)
THE_SAME = (
    "struct(at, seen, day)",
    "struct(to_date(seen), day + 1, month(day))",
    "struct(CAST(id AS STRING), id / 2, CAST(day AS STRING), DATE'2026-03-23')",
    "max(at) OVER (PARTITION BY day ORDER BY id)",
    ":biz_date",
)


@pytest.mark.spark
def test_queries_that_go_by_the_clock(project: Project, spark: SparkSession) -> None:
    project.capture(CLOCKS)
    for expression in (*GO_BY_CLOCK, *THE_SAME):
        query = (
            f"WITH o AS (SELECT * FROM ods_orders WHERE dt = :biz_date) SELECT a.id, {expression} AS v FROM o AS a "  # noqa: S608
            "LEFT SEMI JOIN o AS b ON a.id = b.id\n"
        )
        project.write(gmv=query, above="SELECT id FROM dws_gmv WHERE dt = :biz_date\n")
        assert project.goes_by_clock(spark, "Europe/Paris") == (expression in GO_BY_CLOCK), expression
    assert not project.goes_by_clock(spark, "UTC")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ("paid - paid AS days", "types that Delta does not store: days interval day"),
        ("array() AS nothing", "types that Delta does not store: nothing array<void>"),
        ("NULL AS nothing", "no column is left to write"),
        ("named_struct('a b', city) AS s", "columns with invalid names: s.a b"),
    ],
)
def test_an_unsupported_column_list_is_an_error(project: Project, spark: SparkSession, columns: str, why: str) -> None:
    project.capture(COLUMNS)
    query = f"SELECT {columns} FROM ods_orders WHERE dt = :biz_date"  # noqa: S608 - a query of the test's own
    project.write(gmv=query, above="SELECT 1 AS x FROM ods_orders WHERE dt = :biz_date")
    told = [message for where, message in project.problems(spark) if "dws_gmv.sql" in (where or "")]
    assert [why in message for message in told] == [True], told

"""Views, functions and variables of a project: what its queries read through them, and what is refused."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from tests.project import write_project
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.system.settings import Settings
from tidemark.warehouse.column_graph import column_graph
from tidemark.warehouse.declarations import Declarations, read_declarations

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_SETTINGS = """\
variables: {least: 10, region: "d'Or"}
functions:
  days_before: {arguments: [d, n], sql: "date_sub(d, n)"}
  shop_day: {arguments: [x], equals: "date_sub(x, 1)", returns: date}
"""
_FILES = {
    "project.yaml": "start: 2026-03-23\n",
    "ods/orders.yaml": "{period: day, kind: Virtual}\n",
    "ods/users.yaml": "{period: day, kind: Virtual}\n",
    "dwd/v_paid.yaml": "{kind: View, description: Paid orders with their users.}\n",
    "dwd/v_paid.sql": "-- one line each\nSELECT o.dt, o.amount, u.city FROM orders AS o\n"
    "JOIN users AS u ON u.dt = days_before(o.dt, 1) AND u.id = o.user_id WHERE o.paid -- not yet\n",
    "dwd/v_big.yaml": "kind: View\n",
    "dwd/v_big.sql": "SELECT dt, city, amount FROM dwd.v_paid WHERE amount > :least AND city <> :region\n",
    "dws/gmv.yaml": "period: day\n",
    "dws/gmv.sql": "WITH days AS (SELECT city, amount FROM v_big WHERE dt = :biz_date)\n"
    "SELECT city, sum(amount) AS gmv FROM days GROUP BY city\n",
    "dws/shops.yaml": "period: day\n",
    "dws/shops.sql": "SELECT city FROM v_paid WHERE dt = shop_day(:biz_date)\n",
}


def _read(root: Path, files: dict[str, str] | None = None, settings: str = _SETTINGS) -> Declarations:
    project = write_project(root, {**_FILES, **(files or {})}, settings)
    (project / "data").mkdir(exist_ok=True)
    return read_declarations(project / "warehouse_assets", Settings.at(project / "data", root=str(project)))


def _reads(read: Declarations, name: str) -> dict[str, str]:
    return {dependency.entity: str(dependency.offset) for dependency in read.entities[name].depends_on}


def test_offsets_and_columns_go_through_views(tmp_path: Path) -> None:
    read = _read(tmp_path).require_no_problems()
    assert [*read.differences] == []
    assert {*read.entities} == {"orders", "users", "gmv", "shops"}
    assert _reads(read, "gmv") == {"orders": "Set 0", "users": "Set -1"}
    assert _reads(read, "shops") == {"orders": "Set -1", "users": "Set -2"}
    order = DependencyGraph.build(read.entities).topological()
    settings = Settings.at(tmp_path / "data", root=str(tmp_path))
    columns = column_graph(order, read.entities, read.queries, settings.declarations, settings)
    assert columns.up("gmv.gmv") == ("orders.amount",)
    assert columns.up("gmv.city") == ("users.city",)


def test_the_executed_query_contains_views_and_constants(tmp_path: Path) -> None:
    text = _read(tmp_path).queries["gmv"]
    assert text.startswith("WITH v_paid AS (SELECT o.dt, o.amount, u.city FROM orders AS o JOIN users")
    assert (
        "v_big AS (SELECT dt, city, amount FROM     v_paid WHERE amount > 10 AND city <> 'd\\'Or'), days AS (" in text
    )
    assert len(text.splitlines()) == len(_FILES["dws/gmv.sql"].splitlines())
    assert "shop_day(:biz_date)" in _read(tmp_path).queries["shops"]


def test_a_change_of_a_view_or_a_variable_is_a_change_of_its_readers(tmp_path: Path) -> None:
    before = _read(tmp_path)
    changed = _read(tmp_path, {"dwd/v_paid.sql": _FILES["dwd/v_paid.sql"].replace(", 1)", ", 2)")})
    assert _reads(changed, "gmv") == {"orders": "Set 0", "users": "Set -2"}
    assert changed.queries["gmv"] != before.queries["gmv"]
    assert _read(tmp_path, settings=_SETTINGS.replace("10", "11")).queries["gmv"] != changed.queries["gmv"]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"dwd/v_paid.sql": "SELECT dt FROM order\n"}, ["dwd/v_paid.sql:1:"]),
        ({"dwd/v_paid.sql": "SELECT dt FROM v_big\n"}, ["a view that reads itself"]),
        ({"dwd/v_big.sql": "SELECT dt FROM orders WHERE dt = :biz_dat\n"}, ["dwd/v_big.sql:1:34: unknown parameter"]),
        ({"dwd/v_big.sql": "DELETE FROM orders\n"}, ["an entity is computed by one query"]),
        ({"dwd/v_big.sql": "SELECT {{ ds }} AS dt FROM orders\n"}, ["a placeholder of Airflow"]),
        ({"dwd/v_none.yaml": "kind: View\n"}, ["dwd/v_none.yaml:1: a View without a query"]),
        (
            {"dwd/v_big.yaml": "{kind: View, period: day}\n"},
            ["a View has no slices and is not a table: expected no period"],
        ),
        ({"dwd/v_big.yaml": "{kind: View, export: true}\n"}, ["expected no export"]),
        ({"dwd/v_big.yaml": "{kind: View, depends_on: [orders]}\n"}, ["a View depends on what its query reads"]),
        (
            {"dws/gmv.sql": "WITH v_big AS (SELECT 1 AS a) SELECT a FROM v_big\n"},
            ["dws/gmv.sql:1:1: both a table of WITH and a view are named v_big"],
        ),
        ({"dws/gmv.sql": "SELECT days_before(dt) AS a FROM orders\n"}, ["dws/gmv.sql:1:8: days_before is called"]),
    ],
)
def test_errors_are_reported_once_at_their_place(tmp_path: Path, files: dict[str, str], told: list[str]) -> None:
    problems = _read(tmp_path, files).problems
    assert all(any(words in str(problem) for problem in problems) for words in told), problems
    assert len(problems) == len({(problem.where, problem.message) for problem in problems})


@pytest.mark.parametrize(
    "settings",
    [
        'variables: {biz_date: "2026-01-01"}\n',
        "variables: {a: [1, 2]}\n",
        "functions: {f: {arguments: [x], sql: '(SELECT max(dt) FROM orders)'}}\n",
        "functions: {f: {arguments: [x], sql: x, equals: x}}\n",
        "functions: {f: {arguments: [x], code: 'import os'}}\n",
        "functions: {date_add: {arguments: [x, n], sql: x}}\n",
        "functions: f\n",
    ],
)
def test_settings_that_are_not_constants_or_expressions_are_refused(tmp_path: Path, settings: str) -> None:
    from tidemark.system.errors import SettingsError

    with pytest.raises(SettingsError, match=r"tidemark.yaml:1"):
        _read(tmp_path, settings=settings)


@pytest.mark.spark
def test_spark_agrees_with_the_analysis(tmp_path: Path, spark: SparkSession) -> None:
    """Rows through two views, a macro, a function of Spark's session and constants, by hand."""
    region = "it's \\ -- ; {x} \" `"
    settings = f"variables: {{least: 10, region: {_quoted(region)}}}\n" + _SETTINGS.partition("\n")[2]
    read = _read(tmp_path, settings=settings).require_no_problems()
    session = spark.newSession()
    day = dt.date(2026, 3, 29)
    orders = [(1, 5, True), (1, 20, True), (2, 30, True), (1, 40, False)]
    rows = [(*order, at) for order in orders for at in (day, day - dt.timedelta(1))]
    session.createDataFrame(rows, "user_id INT, amount INT, paid BOOLEAN, dt DATE").createOrReplaceTempView("orders")
    users = [(1, "Lyon", day - dt.timedelta(1)), (2, region, day - dt.timedelta(1)), (1, "late", day)]
    session.createDataFrame(users, "id INT, city STRING, dt DATE").createOrReplaceTempView("users")
    answer = session.sql(read.queries["gmv"], args={"biz_date": day}).collect()
    assert [tuple(row) for row in answer] == [("Lyon", 20)]
    session.udf.register("shop_day", lambda x: x - dt.timedelta(1), "date")
    before = session.sql(read.queries["shops"], args={"biz_date": day + dt.timedelta(1)}).collect()
    assert sorted(row.city for row in before) == sorted(["Lyon", "Lyon", region])


def _quoted(text: str) -> str:
    """In YAML's double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

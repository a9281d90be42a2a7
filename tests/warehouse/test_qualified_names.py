"""Tables that are named with their layer or schema, in a project of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.project import write_project
from tidemark.system.settings import Settings
from tidemark.warehouse.declarations import Declarations, read_declarations

if TYPE_CHECKING:
    from pathlib import Path

DAY = "kind: Virtual\nperiod: day\n"
TABLES = {
    "dwd/dwd_orders.yaml": DAY,
    "dwd/users.yaml": DAY,
    "dwd/dwd_users.yaml": DAY,
    "ods/ods_users.yaml": DAY,
    "dws/dws_x.yaml": "period: day\n",
}


def read(root: Path, sql: str, rule: str = "") -> Declarations:
    declared = TABLES | {"dws/dws_x.sql": sql}
    if rule:
        declared["dws/dws_x.yaml"] += f'quality: [{{reconcile: {{value: sum(a), equals: "{rule}"}}}}]\n'
    settings = "time_zone: Europe/Paris\nschemas: [prod]\n"
    project = write_project(root / "project", declared, settings)
    return read_declarations(project / "warehouse_assets", Settings.at(root / "data", root=str(project)))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM dwd.dwd_orders WHERE dt = :biz_date",
        "SELECT o.a FROM `dwd` . `dwd_orders` AS o WHERE o.dt = :biz_date",
        "SELECT DWD.DWD_ORDERS.a FROM DWD.DWD_ORDERS WHERE dwd.dwd_orders.dt = :biz_date",
        "SELECT a FROM prod.dwd_orders WHERE dt = :biz_date",
        "SELECT a FROM spark_catalog.dwd.dwd_orders WHERE dt = :biz_date",
        "WITH dwd_orders AS (SELECT * FROM dwd.dwd_orders WHERE dt = :biz_date) SELECT a FROM dwd_orders",
        "INSERT OVERWRITE TABLE dws.dws_x SELECT a FROM dwd.dwd_orders WHERE dt = :biz_date;",
        "SELECT extract(DAY FROM dwd.dt) AS d FROM dwd.dwd_orders AS dwd WHERE dt = :biz_date",
    ],
)
def test_the_entity_is_read_and_its_name_alone_runs(tmp_path: Path, sql: str) -> None:
    declared = read(tmp_path, sql)
    assert (declared.problems, declared.differences) == ((), ())
    (dependency,) = declared.entities["dws_x"].depends_on
    assert (dependency.entity, str(dependency.offset)) == ("dwd_orders", "Set 0")
    text = declared.queries["dws_x"]
    assert len(text) == len(sql)
    assert "dwd.dwd_orders" not in text.lower()
    assert text.lower().rindex("dwd_orders") == sql.lower().rindex("dwd_orders")


@pytest.mark.parametrize(
    ("sql", "where", "says"),
    [
        ("SELECT a FROM prod.dwd_order WHERE dt = :biz_date", "1:15", "did you mean 'dwd_orders'?"),
        ("SELECT a FROM ods.dwd_orders WHERE dt = :biz_date", "1:15", "write dwd_orders"),
        ("SELECT a FROM other.dwd_orders WHERE dt = :biz_date", "1:15", "one of the project's schemas"),
        ("SELECT a FROM dwd.users WHERE dt = :biz_date", "1:15", "write users or dwd_users"),
        ("SELECT a FROM ods.users WHERE dt = :biz_date", "1:15", "write users or ods_users"),
        (
            "WITH dwd_orders AS (SELECT 1 AS a), t AS (SELECT a FROM dwd.dwd_orders) SELECT a FROM t",
            "1:61",
            "both a table of WITH and an entity",
        ),
        ("SELECT dwd.dwd_orders FROM ods_users AS dwd WHERE dt = :biz_date", "1:12", "a table's alias"),
    ],
)
def test_an_unknown_name_is_an_error(tmp_path: Path, sql: str, where: str, says: str) -> None:
    (problem, *_) = read(tmp_path, sql).problems
    assert (problem.where, says in str(problem)) == (f"dws/dws_x.sql:{where}", True), str(problem)


def test_a_rules_query_names_tables_so_too(tmp_path: Path) -> None:
    sql = "SELECT a FROM dwd_orders WHERE dt = :biz_date"
    declared = read(tmp_path, sql, "SELECT sum(a) FROM dwd.dwd_orders WHERE dt = :biz_date")
    assert declared.problems == ()


def test_ignored_parts_are_reported(tmp_path: Path) -> None:
    declared = read(tmp_path, "INSERT INTO dws_x\nSELECT a FROM dwd.dwd_orders WHERE dt = :biz_date;\n")
    assert [notice.where for notice in declared.notices] == ["dws/dws_x.sql:1:1"]
    assert declared.queries["dws_x"].split()[0] == "SELECT"

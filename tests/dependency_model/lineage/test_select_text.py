"""What else stands in a query's file becomes spaces, or is refused; the SELECT stays at its place."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.lineage.computed_table import ComputedTable
from tidemark.dependency_model.lineage.select_text import select_text
from tidemark.dependency_model.time import Period
from tidemark.errors import QueryError

OWN = ComputedTable("dws_x", ("dt",), Period.DAY)
SELECT = "SELECT a, 'x;y' AS b FROM d_orders -- ; no end\nWHERE dt = :biz_date"

ACCEPTED = [
    pytest.param("", "", 0, id="alone"),
    pytest.param("", " ;\n", 0, id="a semicolon"),
    pytest.param("INSERT OVERWRITE TABLE dws_x ", "", 1, id="overwrite"),
    pytest.param("insert overwrite dws.`DWS_X`\n", ";", 1, id="qualified, in back quotes"),
    pytest.param("INSERT INTO dws_x\n", "", 1, id="into"),
    pytest.param("INSERT OVERWRITE TABLE dws_x PARTITION (dt='${bizdate}')\n", "", 2, id="partition of DataWorks"),
    pytest.param("INSERT OVERWRITE TABLE dws_x PARTITION (ds='$[yyyymmdd-1]') IF NOT EXISTS\n", "", 2, id="planned"),
    pytest.param("INSERT OVERWRITE TABLE dws_x PARTITION (`dt`='{{ ds_nodash }}')\n", "", 2, id="partition of Airflow"),
    pytest.param("INSERT OVERWRITE TABLE dws_x PARTITION (dt=:biz_date)\n", "", 2, id="partition of a parameter"),
    pytest.param("SET hive.exec.dynamic.partition=true;\nUSE dws;\nINSERT OVERWRITE TABLE dws_x\n", ";", 3, id="set"),
    pytest.param("CREATE TABLE IF NOT EXISTS dws_x COMMENT 'as select' STORED AS ORC AS\n", "", 1, id="create"),
    pytest.param("CREATE OR REPLACE TABLE dws.dws_x LIFECYCLE 30 AS\n", "", 1, id="lifecycle"),
    pytest.param("INSERT OVERWRITE TABLE {{ this }}\n", "", 1, id="a target that cannot be told"),
    pytest.param("INSERT OVERWRITE TABLE ${db}.dws_x\n", "", 1, id="a schema that cannot be told"),
]


@pytest.mark.parametrize(("before", "after", "notices"), ACCEPTED)
def test_the_select_alone_is_left_at_its_place(before: str, after: str, notices: int) -> None:
    text = before + SELECT + after
    selected = select_text(text, file="dws/dws_x.sql", written=OWN)
    assert selected.text.strip() == SELECT
    assert (len(selected.text), selected.text.index("SELECT a")) == (len(text), len(before))
    assert selected.text.count("\n") == text.count("\n")
    assert len(selected.notices) == notices


def test_a_with_before_the_insert_stays() -> None:
    text = "WITH t AS (SELECT 1 AS a)\nINSERT OVERWRITE TABLE dws_x PARTITION (dt='${bizdate}')\nSELECT a FROM t"
    selected = select_text(text, file="x.sql", written=OWN)
    assert selected.text.split() == ["WITH", "t", "AS", "(SELECT", "1", "AS", "a)", "SELECT", "a", "FROM", "t"]
    assert [notice.where for notice in selected.notices] == ["x.sql:2:1", "x.sql:2:41"]


def test_notices_say_what_is_ignored_and_where() -> None:
    text = "SET a=b;\nINSERT INTO dws.dws_x PARTITION (dt = '${bizdate}')\nSELECT 1 AS a"
    notices = [str(notice) for notice in select_text(text, file="x.sql", written=OWN).notices]
    assert notices[0].startswith("x.sql:1:1: SET is ignored")
    assert notices[1].startswith("x.sql:2:1: INSERT INTO dws.dws_x is ignored")
    assert "appends nothing" in notices[1]
    assert notices[2].startswith("x.sql:2:34: PARTITION (dt = '${bizdate}') is ignored")


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("INSERT OVERWRITE TABLE dws_y SELECT 1", "1:24", "another table"),
        ("INSERT OVERWRITE TABLE dws_x PARTITION (dt='$[yyyymmdd]') SELECT 1", "1:41", "another partition"),
        ("INSERT OVERWRITE TABLE dws_x PARTITION (dt='2024-01-01') SELECT 1", "1:41", "another partition"),
        ("INSERT OVERWRITE TABLE dws_x PARTITION (dt='${yyyymm}') SELECT 1", "1:41", "another partition"),
        (
            "INSERT OVERWRITE TABLE dws_x PARTITION (dt='${bizdate}', kind='a') SELECT 1",
            "1:41",
            "select it: 'a' AS kind",
        ),
        ("INSERT OVERWRITE TABLE dws_x PARTITION (dt) SELECT 1, dt FROM d_orders", "1:41", "choose their partition"),
        ("INSERT INTO dws_x (a, b) SELECT 1, 2", "1:19", "columns that are named in the SELECT"),
        ("INSERT INTO dws_x VALUES (1)", "1:1", "without a SELECT"),
        ("INSERT OVERWRITE DIRECTORY '/x' SELECT 1", "1:1", "writes no table"),
        ("FROM d_orders INSERT OVERWRITE TABLE dws_x SELECT a", "1:1", "several tables"),
        ("SET a=b;\nCREATE TABLE dws_tmp AS SELECT 1", "2:14", "another table"),
        ("CREATE TABLE dws_x (a INT)", "1:1", "without a query"),
    ],
)
def test_what_says_something_else_is_refused(text: str, where: str, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        select_text(text, file="x.sql", written=OWN)
    assert (caught.value.where, says in str(caught.value)) == (f"x.sql:{where}", True), str(caught.value)


def test_a_month_is_named_by_its_month_and_an_hour_by_its_own_hour() -> None:
    month, hour = ComputedTable("x", ("dt",), Period.MONTH), ComputedTable("x", ("dt", "hour"), Period.HOUR)
    assert select_text("INSERT INTO x PARTITION (pt='${yyyymm}') SELECT 1", file="x.sql", written=month).notices
    good = "INSERT INTO x PARTITION (dt='$[yyyymmdd-1/24]', hour='$[hh24-1/24]') SELECT 1"
    assert select_text(good, file="x.sql", written=hour).notices
    with pytest.raises(QueryError, match="another partition"):
        select_text("INSERT INTO x PARTITION (dt='${bizdate}', hour='$[hh24]') SELECT 1", file="x.sql", written=hour)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1; SELECT 2",
        "WITH a AS (SELECT 1 AS insert) SELECT * FROM a WHERE insert = 1",
        "INSERT",
        "ALTER TABLE x DROP COLUMN y",
        "SELECT 'open",
        "",
        ";",
    ],
)
def test_what_is_no_such_statement_is_left_for_the_parser(text: str) -> None:
    assert select_text(text, file="x.sql", written=OWN).text.strip() == text

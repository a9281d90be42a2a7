"""Which lists of a SELECT can be written as a slice, and where a partition column in one is the slice's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time.partition_columns import parse_partition_columns
from tidemark.dependency_model.time.period import Period
from tidemark.errors import QueryError

OWN = EntityOutline("own", Period.DAY, PARIS, START)
BY_TEXT = replace(OWN, declared=parse_partition_columns({"ds": "yyyyMMdd"}))
OF_HOURS = replace(OWN, period=Period.HOUR)
TABLES = {
    **SUBJECTS,
    "listed": EntityOutline("listed", Period.DAY, PARIS, START, ("id", "n")),
    "odd": EntityOutline("odd", Period.DAY, PARIS, START, ("id", "x y")),
    "ds_table": replace(BY_TEXT, name="ds_table"),
}


def refusal(query: str, written: EntityOutline = OWN) -> str:
    """Why the list cannot be written; empty where it can."""
    read = read_query(query)
    try:
        infer([read], written, TABLES, written=read)
    except QueryError as error:
        return f"{error.message}: {error.found}"
    return ""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM d_orders WHERE dt = :biz_date",
        "SELECT a, DT FROM d_orders WHERE dt BETWEEN :biz_date AND :biz_date",
        "SELECT * FROM d_orders WHERE dt >= :biz_date AND dt < date_add(:biz_date, 1) ORDER BY a LIMIT 5",
        "SELECT a, :biz_date AS dt FROM d_orders WHERE dt > date_sub(:biz_date, 7) AND dt <= :biz_date",
        "SELECT a, CAST(:biz_date AS STRING) AS dt, count(*) AS n FROM d_orders WHERE dt = :biz_date GROUP BY a",
        "SELECT a, date_add(dt, 1) AS dt FROM d_orders WHERE dt = date_sub(:biz_date, 1)",
        "SELECT dt, a, sum(b) AS b FROM d_orders WHERE dt = :biz_date GROUP BY dt, a",
        "SELECT *, row_number() OVER (ORDER BY b) AS rn FROM d_orders WHERE dt = :biz_date QUALIFY rn = 1",
        "WITH t AS (SELECT *, upper(a) AS up FROM d_orders WHERE dt = :biz_date) SELECT * FROM t",
        "SELECT a, dt FROM d_orders WHERE dt = :biz_date UNION ALL SELECT a, dt FROM d_users WHERE dt = :biz_date",
        "SELECT o.*, u.b FROM d_orders o JOIN d_users u ON u.dt = date_sub(o.dt, 7) WHERE o.dt = :biz_date",
        "SELECT o.dt, p.q FROM d_orders o JOIN d_orders p USING (a) WHERE o.dt = :biz_date AND p.dt = '2026-01-01'",
        "SELECT u.dt, o.a FROM d_orders o JOIN d_users u ON u.dt = o.dt WHERE o.dt = :biz_date",
        "SELECT l.*, u.b FROM listed l JOIN d_users u USING (id, dt) WHERE dt = :biz_date",
        "SELECT * FROM listed JOIN (SELECT id, m FROM d_users WHERE dt = :biz_date) USING (id) WHERE dt = :biz_date",
        "SELECT coalesce(u.dt, :biz_date) AS dt, a FROM d_orders LEFT JOIN d_users u USING (dt) WHERE dt = :biz_date",
        "SELECT hour, a FROM h_clicks WHERE dt = :biz_date",
        "SELECT a.b, c[1], CAST(d AS INT), explode(e), 1, 'x' FROM d_orders WHERE dt = :biz_date",
    ],
)
def test_a_column_that_is_the_slices_own_may_stand_in_the_list(query: str) -> None:
    assert refusal(query) == ""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM d_orders WHERE dt BETWEEN date_sub(:biz_date, 6) AND :biz_date",
        "SELECT a, dt FROM d_orders WHERE dt = date_sub(:biz_date, 1)",
        "SELECT a, max(dt) AS dt FROM d_orders WHERE dt <= :biz_date GROUP BY a",
        "SELECT a, date_format(dt, 'yyyyMMdd') AS dt FROM d_orders WHERE dt = :biz_date",
        "SELECT a, '2026-03-01' AS dt FROM d_orders WHERE dt = :biz_date",
        "SELECT a, paid_on AS dt FROM d_orders WHERE dt = :biz_date",
        "SELECT o.a, u.dt FROM d_orders o LEFT JOIN d_users u ON u.a = o.a AND u.dt = o.dt WHERE o.dt = :biz_date",
        "SELECT dt, a, sum(b) AS b FROM d_orders WHERE dt = :biz_date GROUP BY ROLLUP (dt, a)",
        "SELECT a, dt FROM d_orders WHERE dt = :biz_date UNION ALL SELECT a, lead_day FROM s_regions",
        "SELECT a, last_day(dt) AS dt FROM d_orders WHERE dt = :biz_date",
        "SELECT a, if(dayofweek(:biz_date) = 1, date_sub(dt, 1), dt) AS dt FROM d_orders WHERE dt = :biz_date",
    ],
)
def test_one_that_may_be_another_slices_is_refused(query: str) -> None:
    assert "the partition column dt is in the list" in refusal(query)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT user_id, x AS USER_ID FROM d_orders WHERE dt = :biz_date", "two columns of one name"),
        ("SELECT l.*, n AS N FROM listed l WHERE dt = :biz_date", "two columns of one name"),
        ("SELECT * FROM listed a JOIN listed b ON a.id = b.id AND a.dt = b.dt WHERE a.dt = :biz_date", "one name"),
        ("SELECT a.*, b.id FROM listed a JOIN d_users b USING (id) WHERE a.dt = :biz_date", "two columns of one name"),
        ("SELECT user_id AS `x y` FROM d_orders WHERE dt = :biz_date", "no name that a table's column can have"),
        ("SELECT * FROM odd WHERE dt = :biz_date", "no name that a table's column can have"),
        ("SELECT count(*) FROM d_orders WHERE dt = :biz_date", "can have: count(*)"),
        ("SELECT a, b + 1 FROM d_orders WHERE dt = :biz_date", "can have: b + 1"),
        ("SELECT * FROM (SELECT a, sum(b) FROM d_orders WHERE dt = :biz_date GROUP BY a)", "a value without a name"),
        ("FROM d_orders |> WHERE dt = :biz_date |> AGGREGATE count(*) GROUP BY a", "a value without a name"),
        (
            "WITH p AS (SELECT l.n, m.n FROM listed l JOIN listed m USING (id)) SELECT * FROM p",
            "two columns of one name",
        ),
        ("SELECT INTERVAL 1 DAY AS i FROM d_orders WHERE dt = :biz_date", "an INTERVAL is no column"),
        ("SELECT dt FROM d_orders WHERE dt = :biz_date", "no column is left"),
    ],
)
def test_what_delta_refuses_of_names_is_refused(query: str, why: str) -> None:
    assert why in refusal(query)


def test_columns_by_other_names_and_hours_are_told_the_same_way() -> None:
    assert refusal("SELECT * FROM ds_table WHERE ds = date_format(:biz_date, 'yyyyMMdd')", BY_TEXT) == ""
    assert refusal("SELECT a, dt FROM d_orders WHERE dt = date_sub(:biz_date, 1)", BY_TEXT) == ""
    assert "column ds" in refusal("SELECT a, dt AS ds FROM d_orders WHERE dt = :biz_date", BY_TEXT)
    assert refusal("SELECT * FROM h_clicks WHERE dt = :biz_date AND hour = :biz_hour", OF_HOURS) == ""
    assert "column hour" in refusal("SELECT * FROM h_clicks WHERE dt = :biz_date", OF_HOURS)
    with_parts = replace(OWN, parts=("region",))
    assert refusal("SELECT * FROM listed JOIN d_users u USING (dt) WHERE dt = :biz_date", with_parts) == ""
    assert "column region" in refusal("SELECT a, region FROM d_orders WHERE dt = :biz_date", with_parts)
    assert refusal("SELECT a, region FROM d_orders WHERE dt = :biz_date AND region = :region", with_parts) == ""

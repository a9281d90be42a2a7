"""Queries that are long or deep: what Spark runs is read, in steps that grow with the text and not with its paths."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage import query_binding
from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Column, Occurrence, Place, inside_out, walk
from tidemark.dependency_model.lineage.column_lineage import column_lineage
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Period
from tidemark.errors import QueryError

DOWN = EntityOutline("downstream", Period.DAY, PARIS, START)
SHIFTED = "if(user_id > {at}, d{before}, date_add(d{before}, 1))"
THREE_TIMES = "CASE WHEN t{before} = 'a' THEN 'b' WHEN t{before} IS NULL THEN 'n' ELSE t{before} END"


def _read(sql: str) -> str:
    (read,) = infer([read_query(sql)], DOWN, SUBJECTS).values()
    return str(read)


def _chain(levels: int, column: str, first: str, expression: str, last: str) -> str:
    ctes = [f"c0 AS (SELECT user_id, dt, {first} AS {column}0 FROM d_orders)"]
    for at in range(1, levels + 1):
        value = expression.format(at=at, before=at - 1)
        ctes.append(f"c{at} AS (SELECT user_id, dt, {value} AS {column}{at} FROM c{at - 1})")
    return f"WITH {', '.join(ctes)} SELECT * FROM c{levels} WHERE {last}"


def test_a_date_that_each_cte_mentions_twice_is_followed() -> None:
    assert _read(_chain(8, "d", "dt", SHIFTED, "d8 = :biz_date")) == "Range -8..0"


def test_a_text_that_each_of_many_ctes_mentions_three_times_is_no_work() -> None:
    assert _read(_chain(59, "t", "status", THREE_TIMES, "dt = :biz_date AND t59 <> 'z'")) == "Set 0"


@pytest.mark.long
def test_two_hundred_levels_end_with_a_reason_and_where() -> None:
    read = _read(_chain(200, "d", "dt", SHIFTED, "d200 = :biz_date"))
    assert read.startswith("undecidable: its conditions are too involved")
    assert "ended at 2024-01-" in read
    assert "3,000,000 steps" in read


def test_lineage_follows_what_is_mentioned_often() -> None:
    sql = _chain(59, "t", "status", THREE_TIMES, "dt = :biz_date")
    tables = Tables({name: subject.table for name, subject in SUBJECTS.items()})
    lineage = column_lineage(read_query(sql), tables)
    assert [str(name) for name in lineage.direct["t59"]] == ["d_orders.status"]


@pytest.mark.parametrize(
    "condition",
    [
        "coalesce(b{n}, a.dt) IS NOT NULL",
        "b{n} = :biz_date AND a.dt = :biz_date",
    ],
)
def test_rows_that_a_join_makes_up_are_followed_through_a_chain(condition: str) -> None:
    doubled = "concat(b{before}, b{before})"
    inner = "SELECT dt AS b0 FROM d_users"
    for at in range(1, 41):
        inner = f"SELECT {doubled.format(before=at - 1)} AS b{at} FROM ({inner})"
    sql = f"SELECT a.dt FROM d_orders a LEFT JOIN ({inner}) x ON true WHERE a.dt = :biz_date AND {condition}"
    reads = infer([read_query(sql.format(n=40))], DOWN, SUBJECTS)
    assert str(reads["d_orders"]) == "Set 0"


FLAT = {
    "70 UNIONs": " UNION ALL ".join("SELECT user_id FROM d_orders WHERE dt = :biz_date" for _ in range(70)),
    "200 UNIONs": " UNION ALL ".join(
        f"SELECT user_id, {at} AS shard FROM d_orders WHERE dt = :biz_date AND id % 200 = {at}" for at in range(200)
    ),
    "59 CTEs in a row": "WITH c0 AS (SELECT * FROM d_orders WHERE dt = :biz_date), "
    + ", ".join(f"c{at} AS (SELECT * FROM c{at - 1})" for at in range(1, 59))
    + " SELECT user_id FROM c58",
    "500 ORs": "SELECT user_id FROM d_orders WHERE dt = :biz_date AND ("
    + " OR ".join(f"user_id = {at}" for at in range(500))
    + ")",
    "500 ORs of days": "SELECT user_id FROM d_orders WHERE dt = :biz_date AND ("
    + " OR ".join(f"dt <> date'2020-01-01' + {at}" for at in range(500))
    + ")",
    "300 branches": "SELECT CASE "
    + " ".join(f"WHEN user_id = {at} THEN {at}" for at in range(300))
    + " END AS x FROM d_orders WHERE dt = :biz_date",
    "200 CASEs in ELSE": "SELECT "
    + " ".join(f"CASE WHEN user_id = {at} THEN {at} ELSE" for at in range(200))
    + f" 0 {'END ' * 200} AS x FROM d_orders WHERE dt = :biz_date",
    "200 functions": "SELECT "
    + "replace(" * 200
    + "js"
    + ", 'a', 'b')" * 200
    + " AS x FROM d_orders WHERE dt = :biz_date",
    "100 sub-queries": f"{'SELECT * FROM (' * 100}SELECT * FROM d_orders WHERE dt = :biz_date{')' * 100}",
    "400 parts of a text": f"SELECT {' || '.join(['js'] * 400)} AS x FROM d_orders WHERE dt = :biz_date",
    "400 ANDs": "SELECT user_id FROM d_orders WHERE dt = :biz_date AND "
    + " AND ".join(f"user_id <> {at}" for at in range(400)),
}
"""What Spark 4.2 was seen to run, with its own limits not far above."""


HEAVY = {"200 UNIONs", "500 ORs of days"}


@pytest.mark.parametrize(
    "sql", [pytest.param(sql, id=name, marks=[pytest.mark.long] * (name in HEAVY)) for name, sql in FLAT.items()]
)
def test_what_spark_runs_is_read(sql: str) -> None:
    assert _read(sql) == "Set 0"


def test_too_many_queries_are_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_binding, "QUERY_LIMIT", 1_000)
    ctes = ["c0 AS (SELECT 1 AS a)"] + [f"c{at} AS (SELECT 1 AS a FROM c{at - 1}, c{at - 1} b)" for at in range(1, 40)]
    with pytest.raises(QueryError, match="too many queries: expected at most 1,000 queries, each CTE counted"):
        infer([read_query(f"WITH {', '.join(ctes)} SELECT * FROM c39")], DOWN, SUBJECTS)


def test_too_deep_a_query_is_refused_with_the_limit() -> None:
    deep = query_binding.DEPTH_LIMIT + 10
    with pytest.raises(QueryError, match=f"nested too deep: expected at most {query_binding.DEPTH_LIMIT} queries"):
        infer([read_query(f"{'SELECT * FROM (' * deep}SELECT 1{')' * deep}")], DOWN, SUBJECTS)
    with pytest.raises(QueryError, match="nested too deep: expected fewer functions"):
        read_query(f"SELECT {'(' * 9_000}1{')' * 9_000}")


def test_parts_come_once_and_after_their_own() -> None:
    bound: Bound = Column(Occurrence("t", Place()), "dt")
    for _ in range(60):
        bound = Call("concat", (bound, bound))
    parts = list(inside_out(bound))
    assert len(parts) == 61
    assert parts[0] is list(walk(bound))[-1]
    assert parts[-1] is bound
    assert hash(bound) == hash(bound)

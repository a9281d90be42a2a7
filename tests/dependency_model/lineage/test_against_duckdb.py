"""Random queries run over a table with a few rows a partition: a partition without which the answer differs is read.

Nothing of the analysis is used to find what a query really touches: it is run with each partition left out in turn, and
then with all of them left out that are said not to be read.
"""

# ruff: noqa: S608 - the queries are made up here, and nobody else runs them

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest
import sqlglot

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tests.examples import each
from tests.seeds import chunks
from tidemark.dependency_model.lineage.entity_outline import QuerySession
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.slices_read import Evaluation, NeededUnbounded
from tidemark.dependency_model.lineage.stretches import common_to
from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_KINDS = ("'x'", "'x'", "'y'", "NULL")
TODAY = date(2026, 3, 30)
DAYS = [TODAY + timedelta(days=shift) for shift in range(-5, 4)]
TABLES = ("d_orders", "d_users", "d_clicks")
_CHUNK = 60
_SETS = (
    "GROUPING SETS ((dt, u), (dt))",
    "GROUPING SETS ((dt, u), (u))",
    "dt, ROLLUP (u)",
    "ROLLUP (dt, u)",
    "CUBE (u), dt",
    "GROUPING SETS ((dt), (u)), u",
)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    random = Random(5)
    for name in TABLES:
        connection.execute(f"CREATE TABLE all_{name} (dt DATE, u INT, x INT)")
        rows = [(day, random.randint(1, 3), random.choice([None, 0, 1, 2])) for day in DAYS for _ in range(3)]
        connection.executemany(f"INSERT INTO all_{name} VALUES (?, ?, ?)", rows)
    yield connection
    connection.close()


def _day(random: Random, alias: str) -> str:
    return random.choice([f"{alias}.dt"] * 4 + [f"date_add({alias}.dt, {random.randint(-2, 2)})"])


def _moment(random: Random, other: str | None) -> str:
    if other and random.random() < 0.4:
        return _day(random, other)
    return random.choice(
        [":biz_date", f"date_sub(:biz_date, {random.randint(1, 3)})", f"date_add(:biz_date, {random.randint(1, 2)})"]
    )


def _condition(random: Random, alias: str, other: str | None, depth: int = 2) -> str:  # noqa: PLR0911 - a line a form
    """A random condition on the days and figures of one or two tables."""
    roll = random.random()

    def inner() -> str:
        return _condition(random, alias, other, depth - 1)

    if depth and roll < 0.3:
        return f"({inner()} {random.choice(['AND', 'AND', 'OR'])} {inner()})"
    if depth and roll < 0.38:
        return f"NOT ({inner()})"
    if depth and roll < 0.43:
        return f"CASE WHEN {inner()} THEN {inner()} ELSE {inner()} END"
    if roll < 0.5:
        return random.choice([f"{alias}.x > 0", f"{alias}.x IS NULL", f"{alias}.dt IS NULL", f"{alias}.x = {alias}.u"])
    day = _day(random, alias)
    if roll < 0.6:
        return f"{day} BETWEEN {_moment(random, other)} AND {_moment(random, other)}"
    if roll < 0.68:
        return f"{day} IN ({_moment(random, other)}, {_moment(random, None)})"
    if roll < 0.73:
        return f"coalesce({alias}.dt, :biz_date) = {_moment(random, other)}"
    if roll < 0.79:
        return f"{day} = {_one_of_two_shifts(random, alias)}"
    return f"{day} {random.choice(['=', '=', '=', '<=', '>=', '<>'])} {_moment(random, other)}"


def _one_of_two_shifts(random: Random, alias: str) -> str:
    first, last = random.sample(range(-2, 4), k=2)
    if random.random() < 0.5:
        return f"date_sub(:biz_date, CASE WHEN {alias}.x > 0 THEN {first} ELSE {last} END)"
    shift = f"CASE WHEN {alias}.x > 0 THEN INTERVAL {abs(first)} DAY ELSE INTERVAL {abs(last)} DAY END"
    return f"cast(:biz_date {random.choice(['+', '-'])} {shift} AS DATE)"


def _random_query(random: Random) -> str:  # noqa: PLR0911 - a return a shape
    a, b = (_item(random) for _ in range(2))
    shape = random.randrange(12)
    own, joined = _condition(random, "a", None), _condition(random, "a", "b")
    if shape == 9 and random.random() < 0.7:
        return _of_full_joins(random, a, b)
    if shape < 4:
        join = random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        return (
            f"SELECT a.u, a.dt AS d, b.x FROM {a} AS a {join} {b} AS b ON {_condition(random, 'b', 'a')} AND a.u = b.u"
            f" WHERE {random.choice([own, joined, _condition(random, 'b', None)])}"
        )
    if shape == 4:
        wanted = random.choice(["EXISTS", "NOT EXISTS"])
        inner = f"SELECT 1 FROM {b} AS b WHERE b.u = a.u AND {_condition(random, 'b', 'a')}"
        return f"SELECT a.u, a.x FROM {a} AS a WHERE {own} {random.choice(['AND', 'AND', 'OR'])} {wanted} ({inner})"
    if shape == 5:
        wanted, given = random.choice([("a.dt", "b.dt"), ("(a.dt, a.u)", "b.dt, b.u")])
        inner = f"SELECT {given} FROM {b} AS b WHERE {_condition(random, 'b', None)}"
        return (
            f"SELECT a.u, a.x FROM {a} AS a WHERE {own} AND {wanted} {random.choice(['IN', 'IN', 'NOT IN'])} ({inner})"
        )
    if shape == 6:
        kind = random.choice(["UNION ALL", "UNION", "EXCEPT", "INTERSECT"])
        united = f"SELECT dt, u, x FROM {a} AS p {kind} SELECT dt, u, x FROM {b} AS q"
        return f"SELECT a.u, a.x FROM ({united}) AS a WHERE {own}"
    if shape == 7:
        kind = random.choice(["SEMI", "ANTI"])
        on = f"a.u = b.u AND {_condition(random, 'b', 'a')}"
        return f"SELECT a.u, a.x FROM {a} AS a LEFT {kind} JOIN {b} AS b ON {on} WHERE {own}"
    if shape == 8:
        return _of_three_tables(random, a, b, own)
    if shape > 9:
        return _of_listed_rows(random, a, own)
    scalar = f"(SELECT sum(b.x) FROM {b} AS b WHERE b.u = a.u AND {_condition(random, 'b', 'a')})"
    return f"SELECT a.u, {scalar} AS s FROM {a} AS a WHERE {own}"


def _of_three_tables(random: Random, a: str, b: str, own: str) -> str:
    """A join whose made-up rows the next join, or WHERE, may drop."""
    first, second = (random.choice(["JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN"]) for _ in range(2))
    left = random.choice(["a", "b"])
    where = [own, *(_condition(random, alias, other) for alias, other in (("b", None), ("c", None), ("c", "b")))]
    return (
        f"SELECT a.u, a.dt AS d, b.x, c.x AS y FROM {a} AS a"
        f" {first} {b} AS b ON {_condition(random, 'b', 'a')} AND a.u = b.u"
        f" {second} {_item(random)} AS c ON {_condition(random, 'c', left)} AND c.u = {left}.u"
        f" WHERE {random.choice(where)}"
    )


def _of_full_joins(random: Random, a: str, b: str) -> str:
    """A condition on what FULL JOINs by equality make one, here or in the query around."""

    def of_merged(merged: str) -> str:
        about_rows = random.choice(["a.x"] + ["abs(1)"] * 4)
        condition = _condition(random, "o", None).replace("o.x", about_rows).replace("o.u", "1")
        return condition.replace("o.dt", merged)

    both = random.choice(["coalesce(a.dt, b.dt)", "coalesce(b.dt, a.dt)"])
    on = random.choice(["a.dt = b.dt", "b.dt = a.dt AND a.u = b.u", f"a.dt = b.dt AND {_condition(random, 'b', 'a')}"])
    joined = f"{a} AS a FULL JOIN {b} AS b ON {on}"
    kind = random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    match random.randrange(4):
        case 0:
            keys = random.choice(["dt", "dt, u", "u, dt"])
            full = f"{a} AS a FULL JOIN {b} AS b USING ({keys})"
            return f"SELECT dt, a.x, b.x AS y FROM {full} WHERE {of_merged('dt').replace('a.x', 'abs(1)')}"
        case 1:
            return f"SELECT {both} AS dt, a.x, b.x AS y FROM {joined} WHERE {of_merged(both)}"
        case 2:
            third = random.choice([f"{both} = c.dt", "a.dt = c.dt", "c.dt = b.dt AND c.u = b.u", "c.u = a.u"])
            three = random.choice(["coalesce(a.dt, b.dt, c.dt)", f"coalesce({both}, c.dt)", both])
            where = f"{kind} {_item(random)} AS c ON {third} WHERE {of_merged(three)}"
            return f"SELECT a.x, b.x AS y, c.x AS z FROM {joined} {where}"
    inner = f"SELECT {both} AS dt, coalesce(a.u, b.u) AS u, b.x FROM {joined}"
    around = (
        f"{kind} {_item(random)} AS c ON {random.choice(['o.dt = c.dt', _condition(random, 'c', 'o')])} AND o.u = c.u"
    )
    where = random.choice([_condition(random, "o", None), _condition(random, "o", "c"), _condition(random, "c", None)])
    return f"SELECT o.dt, o.x, c.x AS y FROM ({inner}) AS o {around} WHERE {where}"


def _of_listed_rows(random: Random, a: str, own: str) -> str:
    """Days counted by rows that the query lists itself, chosen by CASE or by conditions on these rows."""
    rows = [f"({random.randint(-1, 3)}, {random.choice(_KINDS)})" for _ in range(random.randint(1, 4))]
    of_rows = ["v.k = 'x'", "v.n > 0", "v.k <> 'y' OR v.k IS NULL", "v.n IN (0, 2)", "NOT v.k = 'x'", "v.n = v.n"]
    chosen, kept = random.choice(of_rows), random.choice(of_rows).replace("v.", "")
    count = random.choice(
        [
            "v.n",
            "v.n + 1",
            "CASE WHEN v.k = 'x' THEN 0 WHEN v.k = 'y' THEN v.n ELSE 2 END",
            "CASE v.n WHEN 1 THEN 3 WHEN 3 THEN 1 ELSE v.n END",
            "if(v.n > 1, 1, v.n)",
            "coalesce(nullif(v.n, 1), 2)",
        ]
    )
    listed = f"(VALUES {', '.join(rows)})"
    listed = random.choice([f"{listed} AS v(n, k)", f"(SELECT n, k FROM {listed} AS w(n, k) WHERE {kept}) AS v"])
    on = random.choice(
        [
            f"a.dt = date_sub(:biz_date, {count})",
            f"date_add(a.dt, {count}) = :biz_date",
            "a.dt = cast(:biz_date - CASE v.k WHEN 'x' THEN INTERVAL 1 DAY ELSE INTERVAL 2 DAY END AS DATE)",
            f"a.dt BETWEEN date_sub(:biz_date, {count}) AND date_add(:biz_date, v.n)",
        ]
    )
    join = random.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    rows_there, wanted = random.choice(["EXISTS", "NOT EXISTS"]), random.choice(["IN", "NOT IN"])
    at, days = random.choice(["AND", "AND", "OR"]), f"SELECT date_sub(:biz_date, {count}) FROM {listed} WHERE {chosen}"
    return random.choice(
        [
            f"SELECT a.u, a.x FROM {a} AS a {join} {listed} ON {on} WHERE {random.choice([chosen, own, 'a.x > 0'])}",
            f"SELECT a.u, a.x, v.k FROM {listed} {join} {a} AS a ON {on} AND ({chosen}) WHERE {own}",
            f"SELECT a.u, a.x FROM {a} AS a, {listed} WHERE {on} AND ({chosen}) AND {own}",
            f"SELECT a.u, a.x FROM {a} AS a WHERE {own} {at} {rows_there} (SELECT 1 FROM {listed} WHERE {on})",
            f"SELECT a.u FROM {a} AS a WHERE {own} {at} a.dt {wanted} ({days})",
        ]
    )


def _item(random: Random) -> str:
    """A table, or a query over one that may hide its days."""
    name = random.choice(TABLES)
    having = _condition(random, name, None, 1).replace(f"{name}.x", f"max({name}.x)")
    kinds = [
        f"(SELECT dt, u, max(x) AS x FROM {name} GROUP BY dt, u)",
        f"(SELECT max(dt) AS dt, u, max(x) AS x FROM {name} GROUP BY u)",
        f"(SELECT dt, u, sum(x) OVER (PARTITION BY u) AS x FROM {name})",
        f"(SELECT dt, u, sum(x) OVER (PARTITION BY dt) AS x FROM {name})",
        f"(SELECT * EXCEPT (x), sum(x) OVER (PARTITION BY dt, u) AS x FROM {name})",
        f"(SELECT * EXCEPT (x), max(x) OVER (PARTITION BY u) AS x FROM {name})",
        f"(SELECT dt, u, sum(x) AS x FROM {name} GROUP BY {random.choice(_SETS)})",
        f"(SELECT dt, u, sum(x) AS x FROM {name} GROUP BY {random.choice(_SETS)} HAVING {having})",
        f"(SELECT date_add(dt, 1) AS dt, u, x FROM {name})",
        f"(SELECT s.dt AS dt, s.u AS u, x FROM (SELECT struct(dt, u) AS s, x FROM {name}))",
        f"(SELECT t.dt, t.u, coalesce(t.x, 0) AS x FROM {name} AS t WHERE {_condition(random, 't', None, 1)})",
    ]
    return random.choice([name] * 6 + kinds)


def _slices_of(sql: str) -> dict[str, set[date] | None]:
    """By table what the analysis says; None where it cannot bound it."""
    tables = Tables({name: subject.table for name, subject in SUBJECTS.items()})
    evaluation = Evaluation(PARIS, Period.DAY, START, SUBJECTS)
    grid = PARIS.grid(Period.DAY)
    needed_at = evaluation.slices_by_table_at(
        [grid.ordinal(TODAY.isoformat())], bind(read_query(sql), tables), QuerySession("UTC")
    )
    return {
        name: None
        if isinstance(needed, str)
        else {date.fromisoformat(grid.key(ordinal)) for ordinal in _ordinals(needed)}
        for name, needed in needed_at.items()
    }


def _ordinals(needed: dict[int, frozenset[int]] | NeededUnbounded) -> set[int]:
    """The slices; of those without a bound the ones of a year around, which the tables have."""
    if not isinstance(needed, NeededUnbounded):
        return {ordinal for slices in needed.values() for ordinal in slices}
    today = PARIS.grid(Period.DAY).ordinal(TODAY.isoformat())
    there = [range(today - 366, today + 366)]
    return {day for read in needed.stretches.values() for days in common_to(read, there) for day in days}


def _answer(
    database: duckdb.DuckDBPyConnection, text: str, left_out: Mapping[str, Collection[date]]
) -> list[tuple[object, ...]]:
    for name in TABLES:
        days = ", ".join(f"DATE '{day}'" for day in left_out.get(name, ()))
        condition = f" WHERE dt NOT IN ({days})" if days else ""
        database.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM all_{name}{condition}")
    return sorted(database.execute(text).fetchall(), key=repr)


def _check(database: duckdb.DuckDBPyConnection, seed: int) -> tuple[int, int]:
    """Partitions told apart and partitions that matter; fails where one that matters is not said to be read."""
    sql = _random_query(Random(seed))
    needed = _slices_of(sql)
    text = sqlglot.transpile(sql.replace(":biz_date", f"DATE '{TODAY}'"), read="spark", write="duckdb")[0]
    whole = _answer(database, text, {})
    unread = {name: set(DAYS) - days for name, days in needed.items() if days is not None}
    assert _answer(database, text, unread) == whole, f"seed {seed}: more than is said is read by\n{sql}"
    told = matter = 0
    for name, days in needed.items():
        if days is None:
            continue
        for day in DAYS:
            differs = _answer(database, text, {name: [day]}) != whole
            assert not differs or day in days, f"seed {seed}: {name} {day} is read by\n{sql}"
            told += day not in days
            matter += differs
    return told, matter


@pytest.mark.slow
@pytest.mark.parametrize("first", each(2, range(0, 120, _CHUNK)))
def test_nothing_that_is_read_is_left_out(database: duckdb.DuckDBPyConnection, first: int) -> None:
    result = [_check(database, seed) for seed in range(first, first + _CHUNK)]
    assert sum(told for told, _ in result) > 50
    assert sum(matter for _, matter in result) > 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", chunks(300, 500))
def test_nothing_that_is_read_is_left_out_of_many(database: duckdb.DuckDBPyConnection, first: int) -> None:
    result = [_check(database, seed) for seed in range(first, first + 500)]
    assert sum(told for told, _ in result) > 500
    assert sum(matter for _, matter in result) > 100

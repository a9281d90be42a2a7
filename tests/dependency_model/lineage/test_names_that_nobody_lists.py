"""Names that a query does not list and Spark knows: fields of structs, columns of generators, parameters of lambdas."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START
from tidemark.dependency_model.lineage.column_lineage import ColumnLineage, column_lineage
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Period
from tidemark.errors import QueryError

DOWN = EntityOutline("downstream", Period.DAY, PARIS, START)
SUBJECTS = {
    "raw": EntityOutline("raw", Period.DAY, PARIS, START),
    "orders": EntityOutline("orders", Period.DAY, PARIS, START, ("user_id", "x", "id", "items", "m", "js")),
    "users": EntityOutline("users", Period.DAY, PARIS, START, ("user_id", "name", "y")),
}
D = "dt = :biz_date"
OF_ONE_TABLE = {
    "a field of a field": f"SELECT x.city.name AS city, count(*) AS n FROM orders WHERE {D} GROUP BY x.city.name",
    "of a table's column": "SELECT o.x.city.zip.code FROM orders o WHERE o.dt = :biz_date",
    "deeper than any name": "SELECT o.x.a.b.c.d.e FROM orders o WHERE o.dt = :biz_date",
    "through a CTE": "WITH o AS (SELECT dt, payload FROM raw) SELECT o.payload.user.id FROM o WHERE o.dt = :biz_date",
    "of a sub-query": f"SELECT q.s.a FROM (SELECT struct(user_id AS a) AS s, dt FROM orders) q WHERE {D}",
    "behind an element": f"SELECT items[0].price.amount, m['k'].v FROM orders WHERE {D}",
    "a star of a struct": "WITH p AS (SELECT dt, from_json(name, 'a INT, b STRING') AS r FROM raw), "
    f"f AS (SELECT dt, r.* FROM p) SELECT a, b FROM f WHERE {D}",
    "a star of a field": f"SELECT code FROM (SELECT dt, x.city.zip.* FROM orders) WHERE {D}",
    "a star of a field of a table": f"SELECT code FROM (SELECT dt, o.x.city.* FROM orders o) WHERE {D}",
    "a function without brackets": f"SELECT user AS who, session_user FROM orders WHERE {D}",
    "explode": f"WITH e AS (SELECT dt, user_id, explode(items) FROM orders) SELECT user_id, col FROM e WHERE {D}",
    "explode of a map": f"WITH e AS (SELECT dt, explode(m) FROM orders) SELECT key, value FROM e WHERE {D}",
    "explode_outer": f"SELECT col FROM (SELECT dt, explode_outer(items) FROM orders) WHERE {D}",
    "posexplode": f"SELECT pos, col FROM (SELECT dt, posexplode(items) FROM orders) WHERE {D}",
    "inline": f"WITH e AS (SELECT dt, inline(items) FROM orders) SELECT price FROM e WHERE {D}",
    "inline_outer": f"SELECT price FROM (SELECT dt, inline_outer(items) FROM orders) WHERE {D}",
    "json_tuple": f"WITH e AS (SELECT dt, json_tuple(js, 'k', 'l') FROM orders) SELECT c0, c1 FROM e WHERE {D}",
    "stack": f"SELECT col0, col1 FROM (SELECT dt, stack(2, 1, 'a', 2, 'b') FROM orders) WHERE {D}",
    "LATERAL": "SELECT o.user_id, e.price FROM orders AS o JOIN LATERAL inline(o.items) AS e WHERE o.dt = :biz_date",
    "LATERAL json_tuple": "SELECT j.c0 FROM orders AS o, LATERAL json_tuple(o.js, 'k') AS j WHERE o.dt = :biz_date",
    "LATERAL VIEW": f"SELECT t.price FROM orders LATERAL VIEW inline(items) t WHERE {D}",
    "rows of constants": "SELECT p.platform FROM orders o CROSS JOIN "
    "(SELECT inline(array(struct('x' AS platform), struct('y' AS platform)))) p WHERE o.dt = :biz_date",
    "an order by FROM's columns": "SELECT id AS n FROM orders o WHERE o.dt = :biz_date ORDER BY n, o.x.city, id DESC",
    "an order by the list's own": f"SELECT user_id AS id, sum(id) AS n FROM orders WHERE {D} GROUP BY 1 ORDER BY n",
    "an order by what a generator names": f"SELECT inline(items) FROM orders WHERE {D} ORDER BY price",
    "an order of both sides": f"SELECT id FROM orders WHERE {D} UNION SELECT x FROM orders WHERE {D} ORDER BY id",
    "a lambda": f"SELECT filter(items, i -> i.price > x.least AND i.kind IN ('a')) FROM orders WHERE {D}",
    "a lambda in a lambda": f"SELECT transform(items, i -> transform(i.parts, p -> p.n + i.n)) FROM orders WHERE {D}",
    "several parameters": f"SELECT aggregate(items, 0, (acc, i) -> acc + i.price) FROM orders WHERE {D}",
}


@pytest.mark.parametrize("sql", OF_ONE_TABLE.values(), ids=OF_ONE_TABLE.keys())
def test_a_name_that_spark_finds_is_found(sql: str) -> None:
    (read,) = infer([read_query(sql)], DOWN, SUBJECTS).values()
    assert str(read) == "Set 0"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT z.city FROM orders",
        "SELECT nothing.x.y FROM orders o",
        "SELECT other FROM (SELECT explode(items) FROM orders)",
        "SELECT c2 FROM (SELECT json_tuple(js, 'k', 'l') FROM orders)",
        "SELECT col2 FROM (SELECT stack(2, 1, 'a', 2, 'b') FROM orders)",
        "SELECT key FROM (SELECT explode(array(1, 2)))",
        "SELECT transform(items, i -> z + 1) FROM orders",
        "SELECT nobody.* FROM orders",
        "SELECT orders.city.* FROM orders",
        "SELECT id FROM orders o ORDER BY o.nothing",
        "SELECT id FROM orders DISTRIBUTE BY id SORT BY nothing",
        "SELECT id FROM orders UNION SELECT user_id FROM users ORDER BY user_id",
        "WITH unused AS (SELECT nothing FROM orders) SELECT id FROM orders",
        "WITH a AS (SELECT nothing FROM orders), unused AS (SELECT 1 FROM a) SELECT id FROM orders",
    ],
)
def test_a_name_that_spark_does_not_find_is_refused(sql: str) -> None:
    with pytest.raises(QueryError, match=r"no such (table or )?column"):
        infer([read_query(sql)], DOWN, SUBJECTS)


def test_tables_of_a_cte_that_nothing_mentions_have_to_be_there() -> None:
    """Spark reads no rows of them, but a run without the table ends at once."""
    unused = "WITH unused AS (SELECT user_id FROM users WHERE dt = date_sub(:biz_date, 1))"
    reads = infer([read_query(f"{unused} SELECT id FROM orders WHERE {D}")], DOWN, SUBJECTS)
    assert {name: str(read) for name, read in reads.items()} == {"orders": "Set 0", "users": "Set -1"}
    lineage = _lineage(f"{unused} SELECT id FROM orders WHERE {D}")
    assert {name: [str(used) for used in columns] for name, columns in lineage.direct.items()} == {"id": ["orders.id"]}


def _lineage(sql: str) -> ColumnLineage:
    return column_lineage(read_query(sql), Tables({name: subject.table for name, subject in SUBJECTS.items()}))


def _direct(sql: str) -> dict[str, str]:
    return {name: " ".join(map(str, used)) for name, used in _lineage(sql).direct.items()}


def test_columns_of_a_struct_come_from_what_it_is_made_of() -> None:
    assert _direct("SELECT r.* FROM (SELECT struct(user_id, id AS own) AS r, x FROM orders)") == {
        "user_id": "orders.user_id",
        "own": "orders.id",
    }
    assert _direct("SELECT r.* FROM (SELECT from_json(js, 'a INT') AS r FROM orders)") == {"*": "orders.js"}


def test_a_recursive_query_has_no_columns_of_nothing() -> None:
    lineage = _lineage(
        "WITH RECURSIVE tree AS (SELECT user_id, y AS parent, name AS path, dt FROM users WHERE dt = :biz_date"
        " UNION ALL SELECT u.user_id, u.y, concat(t.path, '/', u.name), u.dt FROM users u"
        " JOIN tree t ON u.y = t.user_id AND u.dt = t.dt WHERE u.dt = :biz_date) SELECT user_id, path FROM tree"
    )
    assert {name: [str(used) for used in columns] for name, columns in lineage.direct.items()} == {
        "user_id": ["users.user_id"],
        "path": ["users.name"],
    }
    assert [str(name) for name in lineage.indirect] == ["users.dt", "users.user_id", "users.y"]


@pytest.mark.parametrize("above", ["{}", "SELECT user_id FROM ({})", "SELECT max(user_id) AS user_id FROM ({})"])
def test_what_except_takes_away_makes_no_value(above: str) -> None:
    sql = f"SELECT user_id FROM users WHERE {D} EXCEPT SELECT id FROM orders WHERE {D}"
    lineage = _lineage(above.format(sql))
    assert [str(name) for name in lineage.direct["user_id"]] == ["users.user_id"]
    assert "orders.id" in map(str, lineage.indirect)
    reads = infer([read_query(above.format(sql))], DOWN, SUBJECTS)
    assert {name: str(read) for name, read in reads.items()} == {"users": "Set 0", "orders": "Set 0"}


def test_a_comment_that_a_backslash_continues_hides_the_next_line() -> None:
    sql = "SELECT user_id FROM orders WHERE dt >= date_sub(:biz_date, 6) -- where it lies: C:\\\n  AND dt <= :biz_date"
    (read,) = infer([read_query(sql)], DOWN, SUBJECTS).values()
    assert str(read) == "undecidable: no condition bounds its partition columns at their end"
    (read,) = infer([read_query(sql.replace("C:\\", "C:\\ "))], DOWN, SUBJECTS).values()
    assert str(read) == "Range -6..0"


@pytest.mark.parametrize(
    ("pattern", "letter"),
    [
        ("YYYY-MM", "Y"),
        ("yyyy-ww", "w"),
        ("u", "u"),
        ("yyyy''YY", "Y"),
    ],
)
def test_a_pattern_that_spark_refuses_is_refused(pattern: str, letter: str) -> None:
    sql = f"SELECT user_id FROM orders WHERE date_format(dt, '{pattern}') = date_format(:biz_date, '{pattern}')"
    (read,) = infer([read_query(sql)], DOWN, SUBJECTS).values()
    assert str(read).startswith(f"undecidable: Spark has no letter {letter} in patterns")


def test_a_pipe_operator_that_spark_does_not_have_is_named() -> None:
    with pytest.raises(QueryError, match="unsupported pipe syntax operator: 'RENAME'"):
        read_query("FROM orders |> RENAME js AS text |> WHERE dt = :biz_date")


@pytest.mark.parametrize("table", ["IDENTIFIER('orders')", "f(TABLE(orders))", "f(TABLE orders)"])
def test_a_function_that_hides_a_table_is_refused(table: str) -> None:
    with pytest.raises(QueryError, match="a function hides the table that is read"):
        infer([read_query(f"SELECT * FROM {table} WHERE dt = :biz_date")], DOWN, SUBJECTS)


def test_pipe_operators_that_are_read() -> None:
    sql = "FROM orders o |> JOIN users u ON u.user_id = o.user_id AND u.dt = o.dt |> WHERE o.dt = :biz_date |> LIMIT 3"
    assert {str(read) for read in infer([read_query(sql)], DOWN, SUBJECTS).values()} == {"Set 0"}

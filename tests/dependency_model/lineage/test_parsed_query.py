"""Bad SQL is an error with file, line and column."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.worlds import SUBJECTS
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.errors import QueryError

TABLES = Tables({name: subject.table for name, subject in SUBJECTS.items()})


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("SELECT a FROM\nWHERE dt = 1", "2:1", "expected table name"),
        ("SELECT a,\n  b FROM d_orders WHER dt = 1", "2:24", "invalid expression"),
        ("SELECT (1", "1:9", "expecting )"),
        ("", "1:1", "one query"),
        ("SELECT 1; SELECT 2", "1:1", "one query"),
        ("INSERT INTO d_orders SELECT 1", "1:1", "one query"),
        ("SELECT 'open", "1:1", "no SQL"),
        ("SELECT *\nFROM d_orders AS o\nJOIN d_user AS u ON u.x = o.x", "3:6", "did you mean 'd_users'?"),
        ("SELECT * FROM elsewhere.d_orders", "1:15", "tables are named alone"),
        ("SELECT x FROM d_orders AS o\nJOIN d_users AS u ON o.dt = u.dt\nWHERE dt = :biz_date", "3:7", "one of o, u"),
        ("SELECT d.y FROM (SELECT x FROM d_orders) AS d", "1:8", "no such column"),
        ("SELECT o.dt FROM d_orders AS o, d_users AS o", "1:8", "ambiguous column"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        bind(read_query(text, file="dws/x.sql"), TABLES)
    assert says in str(caught.value).lower().replace("no sql", "no SQL")
    assert caught.value.where == f"dws/x.sql:{place}"


def test_a_query_inside_a_file_counts_from_its_line() -> None:
    with pytest.raises(QueryError) as caught:
        read_query("SELECT (1", file="ads/y.yaml", first_line=12)
    assert str(caught.value.where).startswith("ads/y.yaml:12:")


def test_parameters_are_found_where_they_are_none_else() -> None:
    text = "SELECT ':no', a::date -- :not\n/* :nor */ FROM d_orders WHERE dt = :biz_date AND h = :biz_hour"
    parameters = read_query(text).parameters()
    assert {name: (place.line, place.column) for name, place in parameters.items()} == {
        "biz_date": (2, 37),
        "biz_hour": (2, 55),
    }


def test_nesting_without_end_is_refused() -> None:
    text = "SELECT * FROM d_orders"
    for _ in range(300):
        text = f"SELECT * FROM ({text})"  # noqa: S608 - nobody runs it
    with pytest.raises(QueryError, match="nested too deep"):
        bind(read_query(text), TABLES)

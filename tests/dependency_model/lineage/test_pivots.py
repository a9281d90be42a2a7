"""Columns behind PIVOT and UNPIVOT are made of those before them."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.bound_expression import columns_of
from tidemark.dependency_model.lineage.column_lineage import column_lineage
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.time import Period

DOWN = EntityOutline("downstream", Period.DAY, PARIS, START)
ORDERS = "(SELECT dt, user_id, amount FROM d_orders)"
PIVOT = "PIVOT (sum(amount) FOR user_id IN (1 AS a, 2 AS b))"


def test_columns_behind_one_pivot_and_behind_two() -> None:
    assert _columns(f"SELECT a FROM {ORDERS} {PIVOT}") == {"user_id", "amount"}
    assert _columns(f"SELECT v FROM {ORDERS} {PIVOT} UNPIVOT (v FOR k IN (a, b))") == {"user_id", "amount"}


def _columns(sql: str) -> set[str]:
    (relation,) = bind(read_query(sql), Tables({name: subject.table for name, subject in SUBJECTS.items()}))
    return {column.name for bound in relation.columns.values() for column in columns_of(bound)}


SALES = EntityOutline("sales", Period.DAY, PARIS, START, ("shop", "q1", "q2", "q3", "q4", "region"))


def _lineage(sql: str) -> dict[str, str]:
    lineage = column_lineage(read_query(sql), Tables({"sales": SALES.table}))
    return {name: " ".join(used.column for used in columns) for name, columns in lineage.direct.items()}


def test_unpivoted_columns_come_from_the_listed_ones_alone() -> None:
    days = "(SELECT * FROM sales WHERE dt = :biz_date)"
    assert _lineage(f"SELECT shop, quarter, amount FROM {days} UNPIVOT (amount FOR quarter IN (q1, q2))") == {
        "shop": "shop",
        "quarter": "",
        "amount": "q1 q2",
    }
    several = "UNPIVOT ((a, b) FOR q IN ((q1, q2) AS first, (q3, q4) AS last))"
    assert _lineage(f"SELECT * FROM sales {several}") == {
        "dt": "dt",
        "shop": "shop",
        "region": "region",
        "q": "",
        "a": "q1 q3",
        "b": "q2 q4",
    }


def test_a_row_that_is_unpivoted_stays_a_row_of_its_day() -> None:
    sql = "SELECT shop, quarter, amount FROM {} UNPIVOT (amount FOR quarter IN (q1, q2)) WHERE dt = :biz_date"
    for name in ("sales", "d_orders"):
        reads = infer([read_query(sql.format(name))], DOWN, {**SUBJECTS, "sales": SALES})
        assert {str(read) for read in reads.values()} == {"Set 0"}


def test_pivoted_columns_have_sparks_names_and_their_own_sources() -> None:
    rows = "(SELECT shop, region, q1, q2 FROM sales WHERE dt = :biz_date)"
    pivot = "PIVOT (sum(q1) AS a, max(q2) AS b FOR region IN ('n' AS north, 's' AS south))"
    assert _lineage(f"SELECT * FROM {rows} {pivot}") == {
        "shop": "shop",
        "north_a": "q1",
        "north_b": "q2",
        "south_a": "q1",
        "south_b": "q2",
    }
    indirect = column_lineage(read_query(f"SELECT * FROM {rows} {pivot}"), Tables({"sales": SALES.table})).indirect
    assert [name.column for name in indirect] == ["dt", "region"]

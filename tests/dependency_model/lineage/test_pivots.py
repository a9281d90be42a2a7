"""Columns behind PIVOT and UNPIVOT are made of those before them."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from tests.dependency_model.lineage.worlds import SUBJECTS
from tidemark.dependency_model.lineage.bound_expression import columns_of
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind

ORDERS = "(SELECT dt, user_id, amount FROM d_orders)"
PIVOT = "PIVOT (sum(amount) FOR user_id IN (1 AS a, 2 AS b))"


def test_columns_behind_one_pivot_and_behind_two() -> None:
    assert _columns(f"SELECT a FROM {ORDERS} {PIVOT}") == {"dt", "user_id", "amount"}
    assert _columns(f"SELECT v FROM {ORDERS} {PIVOT} UNPIVOT (v FOR k IN (a, b))") == {"dt", "user_id", "amount"}


def _columns(sql: str) -> set[str]:
    (relation,) = bind(read_query(sql), Tables({name: subject.table for name, subject in SUBJECTS.items()}))
    return {column.name for bound in relation.columns.values() for column in columns_of(bound)}

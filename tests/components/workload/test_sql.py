"""Changes as SQL: what is put together, and how values are written."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.components.workload.changes import Change, RowChange, SchemaChange, Settings, Value
from tests.components.workload.plan import plan
from tests.components.workload.sql import Statement, literal, statements


def update(at: int, key: int, status: str) -> RowChange:
    return RowChange(at, "a", "orders_0", "update", key, {"status": status})


def test_equal_updates_of_one_second_are_one_statement() -> None:
    changes = [update(5, 1, "paid"), update(5, 2, "paid"), update(5, 3, "cancelled"), update(6, 4, "paid")]

    assert list(statements(changes)) == [
        Statement(5, "a", "UPDATE orders_0 SET status = 'paid' WHERE order_id IN (1, 2)", 2),
        Statement(5, "a", "UPDATE orders_0 SET status = 'cancelled' WHERE order_id IN (3)", 1),
        Statement(6, "a", "UPDATE orders_0 SET status = 'paid' WHERE order_id IN (4)", 1),
    ]


def test_inserts_of_one_second_are_one_statement_and_a_delete_between_keeps_its_place() -> None:
    def insert(key: int) -> RowChange:
        return RowChange(5, "b", "orders_2", "insert", key, {"order_id": key, "note": None})

    changes: list[Change] = [insert(1), insert(2), RowChange(5, "b", "orders_2", "delete", 1, {}), insert(1)]

    assert [statement.sql for statement in statements(changes)] == [
        "INSERT INTO orders_2 (order_id, note) VALUES (1, NULL), (2, NULL)",
        "DELETE FROM orders_2 WHERE order_id IN (1)",
        "INSERT INTO orders_2 (order_id, note) VALUES (1, NULL)",
    ]


def test_a_created_database_is_used() -> None:
    (statement,) = statements([SchemaChange(1, "a", None, "CREATE DATABASE school")])

    assert statement == Statement(1, "a", "CREATE DATABASE school; USE school", 0)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "NULL"),
        (7, "7"),
        (Decimal("12.50"), "12.50"),
        (date(2026, 3, 29), "'2026-03-29'"),
        (datetime(2026, 3, 29, 3, 0, 1), "'2026-03-29 03:00:01'"),  # noqa: DTZ001 - a wall-clock time
        ("l'été\n\\N", "'l\\'été\\n\\\\N'"),
    ],
)
def test_values_are_written_as_the_database_reads_them(value: Value, written: str) -> None:
    assert literal(value) == written


def test_no_change_is_lost_or_doubled() -> None:
    changes = list(plan(Settings(days=1, changes_per_day=300)))

    assert sum(own.rows for own in statements(changes)) == sum(isinstance(change, RowChange) for change in changes)

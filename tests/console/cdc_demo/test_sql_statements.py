"""A recorded change happens again as it happened."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.console.cdc_demo.recording import Recording
from tidemark.console.cdc_demo.sql_statements import Statement, Statements
from tidemark.console.project_files import SAMPLE

CHANGES = SAMPLE / "changes"
COLUMNS = {
    "id": "BIGINT",
    "day": "DATE",
    "at": "DATETIME",
    "updated_at": "TIMESTAMP",
    "price": "DECIMAL",
    "note": "VARCHAR",
}
ROW = {
    "id": 7,
    "day": 20535,
    "at": 1774220400123,
    "updated_at": "2026-03-23T00:16:26Z",
    "price": "2.50",
    "note": None,
}
PRINTED = (7, "2026-03-23", "2026-03-22 23:00:00.123000", "2026-03-23 00:16:26.000000", "2.50", None)


@pytest.fixture
def statements() -> Statements:
    made = Statements()
    columns = [{"name": name, "typeName": kind} for name, kind in COLUMNS.items()]
    table = {"primaryKeyColumnNames": ["id"], "columns": columns}
    ddl = {**source(5), "ddl": "CREATE TABLE t", "tableChanges": [{"id": '"school"."t"', "table": table}]}
    assert made.of(ddl) == Statement(5, "CREATE TABLE t", is_ddl=True)
    return made


def source(at: int) -> dict[str, Any]:
    return {"source": {"ts_ms": at * 1000 + 999, "table": "t"}}


def test_an_insert_has_every_value_as_the_server_takes_it(statements: Statements) -> None:
    made = statements.of({**source(6), "op": "c", "before": None, "after": ROW})
    names = ", ".join(f"`{name}`" for name in COLUMNS)
    assert made == Statement(6, f"INSERT INTO `t` ({names}) VALUES (%s, %s, %s, %s, %s, %s)", PRINTED)  # noqa: S608


def test_an_update_finds_the_row_by_the_key_that_it_had(statements: Statements) -> None:
    made = statements.of({**source(6), "op": "u", "before": ROW, "after": {**ROW, "id": 8}})
    assert made is not None
    assert made.sql.endswith("WHERE `id` = %s")
    assert made.values == (8, *PRINTED[1:], 7)


def test_a_delete_and_its_tombstone(statements: Statements) -> None:
    made = statements.of({**source(6), "op": "d", "before": ROW, "after": None})
    assert made == Statement(6, "DELETE FROM `t` WHERE `id` = %s", (7,))
    assert statements.of(None) is None


def test_the_recording_is_read_up_to_a_time_and_goes_on_from_an_offset() -> None:
    whole, later = Recording(CHANGES / "b"), Recording(CHANGES / "b", first_offset=500)
    first = whole.at
    assert first == 1774220400
    statements = []
    while packet := whole.until(first + 1_900, 100):
        assert len(packet) <= 100
        assert len(packet) == 1 or not any(statement.is_ddl for _, statement in packet)
        statements += packet
    assert [statement.at for _, statement in statements] == sorted(statement.at for _, statement in statements)
    assert whole.at is not None
    assert whole.at > first + 1_900
    assert later.until(first + 10**9, 1)[0] == next(pair for pair in statements if pair[0] >= 500)

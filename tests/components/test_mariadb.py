"""The MariaDB fixture gives a server that dates changes by simulated time, and the workload's values survive it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.components import binlog
from tests.components.workload import texts
from tests.components.workload.sql import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymysql.cursors import Cursor

    from tidemark.console.servers.mariadb import MariaDb

pytestmark = pytest.mark.components


@pytest.fixture
def cursor(mariadb_server: MariaDb) -> Iterator[Cursor]:
    with mariadb_server.connect() as session, session.cursor() as opened:
        opened.execute("CREATE DATABASE school")
        opened.execute("USE school")
        yield opened
        opened.execute("DROP DATABASE school")


def test_values_come_back_as_they_were_written(cursor: Cursor) -> None:
    cursor.execute(
        "CREATE TABLE kept (id INT PRIMARY KEY, note VARCHAR(255), price DECIMAL(10,2), day DATE, at DATETIME)"
    )
    rest = (Decimal("0.10"), date(2026, 3, 29), datetime(2026, 3, 29, 1, 59, 59))  # noqa: DTZ001 - a wall-clock time
    rows = [(number, note, *rest) for number, note in enumerate((*texts.HARD_NOTES, None))]
    for row in rows:
        cursor.execute(f"INSERT INTO kept VALUES ({', '.join(map(literal, row))})")  # noqa: S608 - what is tested

    cursor.execute("SELECT * FROM kept ORDER BY id")
    assert list(cursor.fetchall()) == rows


def test_row_changes_are_counted_from_the_binlog(cursor: Cursor, mariadb_server: MariaDb) -> None:
    before = binlog.row_changes(mariadb_server.binlogs())
    cursor.execute("CREATE TABLE counted (id INT PRIMARY KEY, n INT)")
    cursor.execute("INSERT INTO counted VALUES (1, 0), (2, 0), (3, 0)")
    cursor.execute("UPDATE counted SET n = 1 WHERE id < 3")
    cursor.execute("DELETE FROM counted WHERE id = 1")

    assert binlog.row_changes(mariadb_server.binlogs()) - before == {
        ("counted", "insert"): 3,
        ("counted", "update"): 2,
        ("counted", "delete"): 1,
    }


def test_a_session_takes_simulated_time(cursor: Cursor) -> None:
    cursor.execute("SET TIMESTAMP = 1774220400")
    cursor.execute("SELECT NOW()")

    assert cursor.fetchall() == ((datetime(2026, 3, 22, 23),),)  # noqa: DTZ001 - the session is in UTC

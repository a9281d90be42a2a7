"""Every error of the database's driver says that it is away for now, damaged for good, or the statement is wrong.

SQLite's are made with real files, PostgreSQL's with a real server.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import psycopg2
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, ProgrammingError

from tests.state_store.conftest import empty_database
from tidemark.state_store.database import Database, translated
from tidemark.state_store.errors import StateStoreDamagedError, StateStoreDownError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres

URL = make_url("postgresql+psycopg2://host/state")


@pytest.mark.parametrize("damage", ["garbage", "cut", "zeros"])
def test_a_damaged_file_is_named_with_a_way_out(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    Database.at(file).close()
    content = file.read_bytes()
    page = {"garbage": b"\xa5" * len(content), "cut": content[:5000], "zeros": b"\0" * len(content)}[damage]
    file.write_bytes(page)
    with pytest.raises(StateStoreDamagedError) as raised:
        Database.at(file)
    assert str(file) in str(raised.value)
    assert "PRAGMA integrity_check" in str(raised.value)


def test_a_folder_in_place_of_the_file_is_not_damage(tmp_path: Path) -> None:
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StateStoreDownError, match="give this account write access to the file"):
        Database.at(tmp_path / "state.db")


# PostgreSQL, appendix A: what a server says after a fail-over, at its limits and while it stops.
@pytest.mark.parametrize("state", ["25006", "25P02", "25P03", "40001", "53300", "53100", "57P01", "57P03", "08006"])
def test_transient_errors_mean_a_store_that_is_down(state: str) -> None:
    cause = psycopg2.errors.lookup(state)("said by the server")
    # Only a server sets the SQLSTATE of an error, so the wrapper here carries it.
    wrapped = DBAPIError("SELECT 1", {}, _with_state(cause, state))
    assert isinstance(translated(wrapped, URL, psycopg2), StateStoreDownError)


def test_damaged_pages_of_a_server_are_damage() -> None:
    wrapped = DBAPIError("SELECT 1", {}, _with_state(Exception("invalid page"), "XX001"))
    assert isinstance(translated(wrapped, URL, psycopg2), StateStoreDamagedError)


def test_an_invalid_statement_is_not_translated(tmp_path: Path) -> None:
    wrapped = DBAPIError("SELECT 1", {}, _with_state(Exception("no such column"), "42703"))
    assert translated(wrapped, URL, psycopg2) is None
    assert translated(sqlite3.IntegrityError("UNIQUE"), URL, sqlite3) is None


@pytest.mark.components
def test_a_server_that_refuses_writes_for_a_moment_is_away(postgres_server: Postgres, tmp_path: Path) -> None:
    database = Database(empty_database(postgres_server.url, tmp_path))
    with pytest.raises(StateStoreDownError, match="read-only"):
        write(database, "SET TRANSACTION READ ONLY", "CREATE TABLE later (number INTEGER)")
    with pytest.raises(ProgrammingError):
        write(database, "SELECT nothing_such")
    write(database, "CREATE TABLE later (number INTEGER)")
    database.close()


def write(database: Database, *statements: str) -> None:
    with database.writing() as connection:
        for statement in statements:
            connection.execute(text(statement))


class _Raised(Exception):  # noqa: N818 - stands for a driver's error
    pgcode: str


def _with_state(cause: Exception, state: str) -> Exception:
    error = _Raised(str(cause))
    error.pgcode = state
    return error

"""Tokens are stored as digests, two of a name at a time, and never come back once they are revoked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from tidemark.state_store.access_tokens import AccessTokens, token_id
from tidemark.state_store.errors import TokenError
from tidemark.system.caller import AccessScope

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

READ = {AccessScope.READ}
NOW = 1_780_000_000.0


def test_a_token_is_found_by_its_id_and_proved_by_its_secret(database: Database) -> None:
    tokens = AccessTokens(database)
    given = tokens.create("airflow", {AccessScope.REPORT, AccessScope.READ}, "account:ann@here")
    (row,) = tokens.rows()
    assert (row.id, row.name, row.created_by) == (token_id(given), "airflow", "account:ann@here")
    assert row.scopes == {AccessScope.REPORT, AccessScope.READ}
    assert row.proves(given)
    assert not row.proves(given[:-1])
    assert len(given.split("_", 2)[2]) == 43, "256 bits"


def test_the_store_holds_no_secret(database: Database) -> None:
    given = AccessTokens(database).create("airflow", READ, "a test")
    with database.reading() as connection:
        (row,) = connection.execute(text("SELECT * FROM access_tokens"))
    assert given.split("_", 2)[2] not in repr(tuple(row))


def test_two_of_a_name_are_in_force_so_that_one_can_take_the_others_place(database: Database) -> None:
    tokens = AccessTokens(database)
    first, second = (tokens.create("airflow", READ, "a test") for _ in range(2))
    with pytest.raises(TokenError, match="has 2 tokens in force already"):
        tokens.create("airflow", READ, "a test")
    assert tokens.revoke(token_id(first)) == [token_id(first)]
    assert tokens.revoke(token_id(first)) == []
    third = tokens.create("airflow", READ, "a test")
    in_force = {row.id for row in tokens.rows() if row.is_in_force(datetime.now(UTC))}
    assert in_force == {token_id(second), token_id(third)}
    assert tokens.revoke("airflow") == sorted([token_id(second), token_id(third)])
    assert len(tokens.rows()) == 3, "none is ever deleted"


def test_one_that_has_expired_takes_no_place(database: Database) -> None:
    now = [NOW]
    tokens = AccessTokens(database, clock=lambda: now[0])
    for _ in range(2):
        tokens.create("airflow", READ, "a test", datetime.fromtimestamp(NOW + 10, UTC))
    with pytest.raises(TokenError, match="in force already"):
        tokens.create("airflow", READ, "a test")
    now[0] = NOW + 10
    assert tokens.create("airflow", READ, "a test")
    assert [row.is_in_force(datetime.fromtimestamp(now[0], UTC)) for row in tokens.rows()] == [False, False, True]


@pytest.mark.parametrize("name", ["", "TIDEMARK_TOKEN", "a b", "a:b", "é", "x" * 65, "-a", "a\n"])
def test_names_are_plain(database: Database, name: str) -> None:
    with pytest.raises(TokenError, match="invalid name"):
        AccessTokens(database).create(name, READ, "a test")


def test_an_unknown_token_cannot_be_revoked(database: Database) -> None:
    with pytest.raises(TokenError, match="the token does not exist"):
        AccessTokens(database).revoke("airflow")

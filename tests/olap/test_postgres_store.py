"""What only a server can get wrong: accounts, reachability, locks held by others, rules of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg2
import pytest
from sqlalchemy import make_url

from tests.olap.examples import DAY, gmv, rows
from tests.olap.servers import PASSWORD, url_of
from tidemark.errors import TransientError
from tidemark.olap.errors import OlapBusyError, OlapComparisonError, OlapDownError, OlapRefusedError
from tidemark.olap.postgres_store import PostgresStore
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from tests.components.postgres import Postgres

pytestmark = pytest.mark.components


@pytest.fixture
def table() -> str:
    return f"ads_{uuid4().hex[:8]}"


def test_a_refused_account_is_named_and_its_password_is_not(postgres_server: Postgres, table: str) -> None:
    store = PostgresStore(make_url(url_of(postgres_server)).set(username="stranger"))

    with pytest.raises(OlapRefusedError, match='role "stranger" does not exist') as refused:
        store.publish(table, gmv("1.00"), {"dt": DAY})

    assert f"stranger:***@127.0.0.1:{postgres_server.port}/postgres" in str(refused.value)
    assert PASSWORD not in f"{refused.value}{store!r}"
    assert refused.value.__cause__ is None


def test_a_password_in_the_servers_own_words_is_masked(postgres_server: Postgres, table: str) -> None:
    """Here the database's name is the password, and the server repeats it."""
    url = make_url(url_of(postgres_server))
    store = PostgresStore(url.set(database=url.password))

    with pytest.raises(OlapRefusedError, match=r'database "\*\*\*" does not exist') as refused:
        store.read(table, {})

    assert str(refused.value).count(str(url.password)) == str(refused.value).count(f"{url.port}/{url.password}")


def test_a_server_that_is_not_there(table: str) -> None:
    port = free_port()
    store = PostgresStore(make_url(f"postgresql+psycopg2://u:p4ssw0rd@127.0.0.1:{port}/db"))

    with pytest.raises(OlapDownError, match=rf"u:\*\*\*@127\.0\.0\.1:{port}/db: .*Connection refused") as refused:
        store.read(table, {})

    assert isinstance(refused.value, TransientError)
    assert "p4ssw0rd" not in str(refused.value)


def test_parameters_of_the_url_reach_the_driver(postgres_server: Postgres, table: str) -> None:
    """The test's server has no TLS: who asks for it gets no connection."""
    url = make_url(url_of(postgres_server))
    with pytest.raises(OlapRefusedError, match="SSL") as refused:
        PostgresStore(url.update_query_dict({"sslmode": "require"})).read(table, {})
    assert "sslmode=require" in str(refused.value)
    with pytest.raises(OlapRefusedError, match='invalid connection option "sslmod"'):
        PostgresStore(url.update_query_dict({"sslmod": "verify-full"})).read(table, {})


def test_an_account_given_as_parameters_is_used_and_its_password_is_masked(
    postgres_server: Postgres, table: str
) -> None:
    url = make_url(url_of(postgres_server))
    given = {"user": "stranger", "password": PASSWORD, "options": "-c statement_timeout=7s"}
    with pytest.raises(OlapRefusedError, match='role "stranger" does not exist') as refused:
        PostgresStore(url.set(username=None, password=None, query=given)).read(table, {})
    assert "password=***" in str(refused.value)
    assert PASSWORD not in str(refused.value)
    PostgresStore(url.set(query={"options": "-c statement_timeout=7s"})).publish(table, gmv("1.00"), {"dt": DAY})


def test_a_table_locked_by_another_session_is_waited_for_only_so_long(postgres_server: Postgres, table: str) -> None:
    PostgresStore(make_url(url_of(postgres_server))).publish(table, gmv("1.00"), {"dt": DAY})
    other = psycopg2.connect(postgres_server.dsn)
    try:
        other.cursor().execute(f'LOCK TABLE "{table}"')
        with pytest.raises(OlapBusyError, match="lock timeout"):
            PostgresStore(make_url(url_of(postgres_server)), lock_seconds=1).publish(table, gmv("2.00"), {"dt": DAY})
    finally:
        other.close()


def test_a_trigger_that_alters_rows_is_found_out_and_rolled_back(postgres_server: Postgres, table: str) -> None:
    store = PostgresStore(make_url(url_of(postgres_server)))
    store.publish(table, gmv("1.00"), {"dt": DAY})
    _add_rounding_trigger(postgres_server, table)

    with pytest.raises(OlapComparisonError, match="look for triggers"):
        store.publish(table, gmv("7.49"), {"dt": DAY})

    assert rows(store.read(table, {}), "gmv") == rows(gmv("1.00"), "gmv")


def _add_rounding_trigger(server: Postgres, table: str) -> None:
    connection = psycopg2.connect(server.dsn)
    try:
        connection.cursor().execute(
            f"CREATE FUNCTION round_{table}() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN NEW.gmv := round(NEW.gmv); RETURN NEW; END $$; "
            f"CREATE TRIGGER rounding BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION round_{table}()"
        )
        connection.commit()
    finally:
        connection.close()


def test_text_that_postgresql_cannot_hold_is_refused_and_nothing_changes(postgres_server: Postgres, table: str) -> None:
    import pyarrow as pa

    store = PostgresStore(make_url(url_of(postgres_server)))
    store.publish(table, pa.table({"note": ["fine"]}), {"dt": DAY})

    with pytest.raises(OlapRefusedError, match="invalid byte sequence"):
        store.publish(table, pa.table({"note": ["a\0b"]}), {"dt": DAY})

    assert rows(store.read(table, {}), "note") == [("fine",)]

"""Lists active leases without opening the state store, so an older or damaged store is not changed."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, create_engine, select
from sqlalchemy.exc import DBAPIError

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.lease import is_gone
from tidemark.state_store.schema import LEASES
from tidemark.system.masked_urls import POSTGRESQL, read_url


def live_leases(store: Path | str) -> list[str]:
    """Each held lease with its holder; empty for a store that cannot be read, because no process can use it.

    `store` is a file, or a URL of PostgreSQL.
    """
    file = URL.create("sqlite", database=str(store))
    engine = create_engine(file if isinstance(store, Path) else read_url(store, (POSTGRESQL,)))
    try:
        with engine.connect() as connection:
            held = select(LEASES).where(LEASES.c.until > database_now(connection)).order_by(LEASES.c.name)
            return [f"{row.name}, held by {row.holder}" for row in connection.execute(held) if not is_gone(row.process)]
    except DBAPIError:
        return []
    finally:
        engine.dispose()

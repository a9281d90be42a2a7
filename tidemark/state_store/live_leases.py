"""Who is at work with a state store, asked without opening it: an older or a damaged one stays as it is."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, create_engine, select
from sqlalchemy.exc import DBAPIError

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.lease import is_gone
from tidemark.state_store.schema import LEASES
from tidemark.system.masked_urls import POSTGRESQL, read_url


def live_leases(store: Path | str) -> list[str]:
    """Each lease that is held, with its holder; none of a store that cannot be read, where nobody can be at work.

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

"""Connections to Dagster's database that a long-lived process keeps.

Dagster opens one for each statement, so that many processes can share a server with few connections. Each takes the
server some milliseconds, and a run writes dozens of events. Workers and the center are few. The SQLite files are in
`sqlite_connections`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage
from dagster_postgres.utils import create_pg_engine

from tidemark.dagster_internals.sqlite_connections import keep_sqlite_open

if TYPE_CHECKING:
    import dagster as dg

_KEPT: Final = 2


def keep_connections(instance: dg.DagsterInstance) -> None:
    """Let the instance's storages keep their connections: a pool for PostgreSQL, open files for SQLite.

    A connection that the server has dropped is noticed before its use (a round trip), and replaced.
    """
    keep_sqlite_open(Path(instance.root_directory))
    for storage in (instance.run_storage, instance.event_log_storage):
        if isinstance(storage, PostgresRunStorage | PostgresEventLogStorage):
            storage._engine.dispose()  # noqa: SLF001 - Dagster replaces it in the same way for its web server
            storage._engine = create_pg_engine(  # noqa: SLF001
                storage.postgres_url,
                storage._token_provider,  # noqa: SLF001
                isolation_level="AUTOCOMMIT",
                pool_size=_KEPT,
                pool_pre_ping=True,
            )


def has_server(instance: dg.DagsterInstance) -> bool:
    """Whether the instance's runs and events are on a server that other hosts can reach."""
    is_shared = isinstance(instance.run_storage, PostgresRunStorage)
    return is_shared and isinstance(instance.event_log_storage, PostgresEventLogStorage)

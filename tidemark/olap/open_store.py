"""Opens the OLAP store in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.olap.duckdb_store import DuckDbStore
from tidemark.olap.errors import OlapSettingError
from tidemark.olap.postgres_store import PostgresStore
from tidemark.system.masked_urls import POSTGRESQL, masked_url, read_url

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.olap.store import OlapStore

DUCKDB: Final = "duckdb"
_DUCKDB_FILE: Final = "olap.duckdb"


def open_store(olap: str, data: Path) -> OlapStore:
    """The store of `olap` (Settings.olap); the embedded one is a file in the folder `data`.

    Nothing is opened or created yet. Raises OlapSettingError, with any password masked.
    """
    if olap == DUCKDB:
        return DuckDbStore(data / _DUCKDB_FILE)
    try:
        url = read_url(olap, [POSTGRESQL])
    except ValueError as error:
        raise OlapSettingError(str(error)) from None
    if not url.database:
        raise OlapSettingError(masked_url(url))
    return PostgresStore(url)

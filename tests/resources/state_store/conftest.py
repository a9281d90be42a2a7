"""Every test of the store runs on both databases."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg2
import pytest

from resources.state_store.database import Database
from resources.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOTH = ["sqlite", pytest.param("postgresql", marks=[pytest.mark.components, pytest.mark.xdist_group("postgresql")])]


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    server = request.getfixturevalue("postgres_server").url if request.param == "postgresql" else ""
    return empty_database(server, tmp_path)


def empty_database(server: str, folder: Path) -> str:
    """The URL of a new database: in the server of that address, or without one a file in the folder."""
    name = f"state_{uuid.uuid4().hex}"
    if not server:
        return f"sqlite:///{folder / name}.db"
    connection = psycopg2.connect(server.replace("+psycopg2", ""))
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    connection.close()
    return server.replace("/postgres", f"/{name}")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> StateStore:
    return StateStore(database)

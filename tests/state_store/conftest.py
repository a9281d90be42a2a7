"""Every test of the store runs on both databases."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.components.fixtures import ON_POSTGRESQL
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOTH = ["sqlite", ON_POSTGRESQL]


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
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> StateStore:
    return StateStore(database)

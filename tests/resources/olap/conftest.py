"""The same tests against both stores: an embedded file, and a real PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from resources.olap import OlapStore, open_store
from tests.components.availability import POSTGRESQL, require
from tests.components.postgres import Postgres, postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Target:
    """What opens a store, here and in another process; `table` is a name nobody else uses."""

    setting: str
    data: Path
    table: str

    def open(self) -> OlapStore:
        return open_store(self.setting, self.data)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    require(POSTGRESQL)
    with postgresql() as server:
        yield server


@pytest.fixture(params=["duckdb", pytest.param("postgresql", marks=pytest.mark.components)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    table = f"ads_{uuid4().hex[:8]}"
    if request.param == "duckdb":
        return Target("duckdb", tmp_path, table)
    server: Postgres = request.getfixturevalue("postgres_server")
    return Target(server.url, tmp_path, table)


@pytest.fixture
def store(target: Target) -> OlapStore:
    return target.open()

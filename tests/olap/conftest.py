"""The same tests against both stores: an embedded file, and a real PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.components.fixtures import ON_POSTGRESQL
from tests.olap.servers import url_of
from tidemark.olap import OlapStore, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres


@dataclass(frozen=True)
class StoreTarget:
    """What opens a store, here and in another process; `table` is a name nobody else uses."""

    setting: str
    data: Path
    table: str

    def open(self) -> OlapStore:
        return open_store(self.setting, self.data)


@pytest.fixture(params=["duckdb", ON_POSTGRESQL])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> StoreTarget:
    table = f"ads_{uuid4().hex[:8]}"
    if request.param == "duckdb":
        return StoreTarget("duckdb", tmp_path, table)
    server: Postgres = request.getfixturevalue("postgres_server")
    return StoreTarget(url_of(server), tmp_path, table)


@pytest.fixture
def store(target: StoreTarget) -> OlapStore:
    return target.open()

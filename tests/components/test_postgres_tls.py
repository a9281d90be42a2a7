"""PostgreSQL with TLS: state store and OLAP store prove whom they talk to, and stop where it is somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from sqlalchemy import make_url, text

from tests.components.availability import POSTGRESQL, require
from tests.components.certificates import Authority
from tests.components.postgres import postgres
from tests.state_store.examples import DAY, chain
from tidemark.olap.errors import OlapStoreError
from tidemark.olap.open_store import open_store
from tidemark.state_store.database import Database
from tidemark.state_store.errors import StateStoreDownError
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import URL

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("postgresql")]

ROWS = pa.table({"dt": ["2026-03-23"], "n": [1]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("authorities")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[URL]:
    """One that lets nobody in without TLS; its address proves itself by `ours.pem`."""
    require(POSTGRESQL)
    Authority.create("other", folder)
    with postgres(authority=Authority.create("ours", folder)) as running:
        yield make_url(running.url)


def with_verification(server: URL, authority: Path, **changed: str) -> URL:
    return server.set(**changed).update_query_dict({"sslmode": "verify-full", "sslrootcert": str(authority)})  # type: ignore[arg-type]


def test_both_stores_verify_the_server(server: URL, folder: Path) -> None:
    url = with_verification(server, folder / "ours.pem")
    database = Database(url)
    StateStore(database).write.append(chain(DAY, "released"), after=0)
    with database.reading() as connection:
        used = connection.execute(text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")).scalar_one()
    assert used is True
    database.close()
    olap = open_store(url.render_as_string(hide_password=False), folder)
    olap.publish("figures", ROWS, {"dt": "2026-03-23"})
    assert olap.read("figures", {"dt": "2026-03-23"}).num_rows == 1


def test_another_authority_is_refused(server: URL, folder: Path) -> None:
    assert_refused(with_verification(server, folder / "other.pem"), folder, "certificate verify failed")


def test_another_name_is_refused(server: URL, folder: Path) -> None:
    """The certificate is for the address; who asked for a name has to get one for that name."""
    assert_refused(with_verification(server, folder / "ours.pem", host="localhost"), folder, "does not match host name")


def test_without_tls_nobody_gets_in(server: URL, folder: Path) -> None:
    assert_refused(server.update_query_dict({"sslmode": "disable"}), folder, "no encryption")


def assert_refused(url: URL, folder: Path, said: str) -> None:
    with pytest.raises(StateStoreDownError, match=said):
        Database(url)
    with pytest.raises(OlapStoreError, match=said):
        open_store(url.render_as_string(hide_password=False), folder).read("figures", {"dt": "2026-03-23"})

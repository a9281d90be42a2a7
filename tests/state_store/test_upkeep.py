"""Migrations, compaction, and a server that is gone."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, insert, inspect, make_url, text

from tests.state_store.examples import DAY, HOUR, NOON, chain
from tests.state_store.test_store import LIFE, TOLD
from tidemark.state_store import compaction
from tidemark.state_store import database as database_module
from tidemark.state_store.compaction import compact
from tidemark.state_store.database import Database
from tidemark.state_store.errors import (
    DatabaseOfOthersError,
    SchemaTooNewError,
    StateDiskError,
    StateSettingError,
    StateStoreDownError,
)
from tidemark.state_store.migrations import migrate, migrations
from tidemark.state_store.schema import MIGRATIONS
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres

TWICE_FAILED = "released launched started failed retried launched failed"
SNAPSHOT = TaggedSnapshot("ods_orders", "day", "2026-03-23", 4, 10, NOON)


def test_a_step_is_applied_once(database: Database) -> None:
    with database.writing() as connection:
        migrate(connection, "here")
        assert len(connection.execute(MIGRATIONS.select()).all()) == len(migrations())


def test_a_later_versions_database_is_refused(url: str, database: Database) -> None:
    with database.writing() as connection:
        connection.execute(insert(MIGRATIONS).values(number=99, name="of the future", applied_at=0))
    with pytest.raises(
        SchemaTooNewError, match=f"expected migration {migrations()[-1].number} or an earlier one, found migration 99"
    ):
        Database(url)


def test_compaction_keeps_the_present_and_later_states(store: StateStore) -> None:
    store.write.append([*chain(DAY, LIFE), *chain(HOUR, "released launched started", first=6, facts=TOLD)], after=0)
    before = store.read.everything()
    assert compact(store.database, NOON + timedelta(seconds=4.5)) == 3
    assert store.read.everything() == before
    assert store.read.history(DAY)[0].record_time <= NOON + timedelta(seconds=4)
    assert compact(store.database, NOON + timedelta(hours=1)) == 1
    assert [transition.seq for transition in store.read.after(0)] == [5, 6, 7, 8]
    assert store.write.append(chain(DAY, "kept", first=9, status=store.read.after(0)[0].status), after=8) == 9


def test_compaction_keeps_the_attempts_of_unfinished_slices(store: StateStore) -> None:
    store.write.append(
        [*chain(DAY, TWICE_FAILED), *chain(HOUR, f"{TWICE_FAILED} retried launched started completed", first=8)],
        after=0,
    )
    before = store.read.failures()
    assert {slice_: (failures.times, failures.seq) for slice_, failures in before.items()} == {DAY: (2, 7)}
    compact(store.database, NOON + timedelta(hours=1))
    assert store.read.failures() == before
    assert [transition.seq for transition in store.read.history(DAY)] == [4, 7]
    assert len(store.read.history(HOUR)) == 1


def test_compaction_goes_on_from_batch_to_batch_and_no_further_than_it_may(
    store: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "BATCH", 2)
    store.write.append(chain(DAY, LIFE), after=0)
    assert compact(store.database, NOON + timedelta(hours=1), most=2) == 2
    assert compact(store.database, NOON + timedelta(hours=1)) == 2
    assert [transition.seq for transition in store.read.after(0)] == [5]


def test_a_file_on_a_network_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "network_disk", lambda _: "nfs4 at /mnt/shared")
    with pytest.raises(StateDiskError, match=r"state\.db: .*found nfs4 at /mnt/shared.*PostgreSQL"):
        Database.at(tmp_path / "state.db")


def test_tags_of_snapshots_live_in_the_same_database(database: Database) -> None:
    registry = SnapshotRegistry(database)
    registry.tag([SNAPSHOT])
    registry.tag([SNAPSHOT])
    assert registry.get("ods_orders", "day", "2026-03-23") == SNAPSHOT


def test_a_missing_server_is_a_transient_error(tmp_path: Path) -> None:
    with pytest.raises(StateStoreDownError, match=r"does not answer: found .*nothing is lost") as caught:
        Database("postgresql+psycopg2://tidemark:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
    with pytest.raises(StateStoreDownError):
        Database(f"sqlite:///{tmp_path}")


@pytest.mark.parametrize("secret", ["u:s3cret@127.0.0.1:1/none", "127.0.0.1:1/none?user=u&password=s3cret"])
def test_no_form_of_url_shows_its_password(secret: str) -> None:
    with pytest.raises(StateStoreDownError, match=r"\*\*\*") as caught:
        Database(f"postgresql+psycopg2://{secret}")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3cret", "the text is not a URL"),
        ("postgresql+psycopg2://u:s3cret@h:port/db", "the text is not a URL"),
        ("oracle://u:s3cret@h/db", r"found oracle://u:\*\*\*@h/db"),
        ("none+such://u:s3cret@h/db", r"found none\+such://u:\*\*\*@h/db"),
        ("postgresql://u:s3cret@127.0.0.1:1/db?sslmod=verify-full", 'invalid connection option "sslmod"'),
        ("postgresql+psycopg2://127.0.0.1:1/db?user=u&pasword=s3cret", 'invalid connection option "pasword"'),
    ],
)
def test_a_url_of_no_store_is_refused_in_words(url: str, said: str) -> None:
    with pytest.raises(
        StateSettingError, match=f"^TIDEMARK_STATE: the setting does not name a state store.*{said}"
    ) as caught:
        Database(url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.components
def test_parameters_of_the_url_reach_the_driver(postgres_server: Postgres) -> None:
    """The test's server has no TLS: who asks for it gets no connection."""
    with pytest.raises(StateStoreDownError, match="SSL"):
        Database(make_url(postgres_server.url).update_query_dict({"sslmode": "require"}))


def test_the_file_and_sqlites_other_files_are_private_to_their_owner(tmp_path: Path) -> None:
    opened = Database.at(tmp_path / "data" / "state.db")
    StateStore(opened).write.append(chain(DAY, "released"), after=0)
    made = [tmp_path / "data", *(tmp_path / "data").iterdir()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, *[0o600] * (len(made) - 1)]
    opened.close()


def _fill(store: StateStore) -> StateStore:
    store.write.append(chain(DAY, LIFE), after=0)
    return store


def test_the_database_of_another_program_is_refused_before_anything_is_written(url: str) -> None:
    """Dagster's storage has a table of that name, too."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE snapshots (id INTEGER PRIMARY KEY, snapshot_id VARCHAR)"))
    with pytest.raises(DatabaseOfOthersError, match=r"belongs to another program.*Dagster.*CREATE DATABASE tidemark"):
        Database(url)
    assert inspect(engine).get_table_names() == ["snapshots"]
    engine.dispose()


def test_a_file_of_another_program_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Any file of SQLite may be named by mistake: an archive of somebody's browser, say."""
    file = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE moz_places (url TEXT)")
    with pytest.raises(DatabaseOfOthersError, match="moz_places"):
        Database.at(file)
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("moz_places",)]

"""Stores that earlier programs left are opened by today's, and steps that were released never change."""

from __future__ import annotations

import stat
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, insert, inspect, text

from tests.components.fixtures import ON_POSTGRESQL
from tests.state_store.conftest import empty_database
from tests.state_store.recorded_stores import play, recorded_steps, shape
from tidemark.state_store.database import Database
from tidemark.state_store.errors import SchemaTooNewError
from tidemark.state_store.lease import Lease
from tidemark.state_store.migrations import migrate, migrations
from tidemark.state_store.schema import METADATA, MIGRATIONS
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LAST = migrations()[-1].number


@pytest.fixture(params=["sqlite", ON_POSTGRESQL])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """URLs of empty databases."""
    server = request.getfixturevalue("postgres_server").url if request.param == "postgresql" else ""
    return lambda: empty_database(server, tmp_path)


def _stores(url: str, stores: str) -> tuple[int, ...]:
    """After which steps: a database in a server takes longer to make, so that of those some are enough for each day."""
    if url.startswith("sqlite"):
        return recorded_steps("sqlite")
    return tuple(step for step in recorded_steps("postgresql") if stores == "all" or step in (2, 6, 18, LAST))


def _count(url: str) -> dict[str, int]:
    """How many rows each table has, but that of the steps."""
    engine = create_engine(url)
    with engine.connect() as connection:
        counts = {
            name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()  # noqa: S608 - a table that is there
            for name in inspect(engine).get_table_names()
            if name != MIGRATIONS.name
        }
    engine.dispose()
    return counts


def _of_todays_schema(url: str) -> dict[str, object]:
    engine = create_engine(url)
    METADATA.create_all(engine)
    engine.dispose()
    return shape(url)


@pytest.mark.parametrize("stores", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_each_recorded_store_becomes_todays_and_keeps_its_rows(new_url: Callable[[], str], stores: str) -> None:
    today = _of_todays_schema(new_url())
    for step in _stores(new_url(), stores):
        url = new_url()
        play(url, step)
        before = _count(url)
        database = Database(url)
        assert (step, shape(url)) == (step, today)
        assert {name: count for name, count in _count(url).items() if count} == before
        (tag,) = SnapshotRegistry(database).of("ods_orders")
        assert (tag.slice, tag.version, tag.tagged_at.isoformat()) == ("2026-03-23", 5, "2026-03-24T00:00:00+00:00")
        database.close()


def test_a_new_store_is_todays(new_url: Callable[[], str]) -> None:
    url = new_url()
    Database(url).close()
    assert shape(url) == _of_todays_schema(new_url())


@pytest.mark.parametrize("stores", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_steps_that_were_released_make_the_tables_of_their_time(new_url: Callable[[], str], stores: str) -> None:
    made = new_url()
    for step in [step for step in _stores(made, stores) if step]:
        recorded = new_url()
        play(recorded, step)
        engine = create_engine(made)
        with engine.begin() as connection:
            migrate(connection, "here", migrations()[:step])
        engine.dispose()
        assert (step, shape(made)) == (step, shape(recorded))


def test_each_step_is_recorded() -> None:
    """Of the first nothing was recorded: it was released together with the second."""
    assert [step.number for step in migrations()] == list(range(1, LAST + 1))
    assert recorded_steps("sqlite") == (0, *range(2, LAST + 1))
    assert recorded_steps("postgresql") == tuple(range(2, LAST + 1))


def test_restatements_and_leases_of_a_recorded_store_are_numbered_on(new_url: Callable[[], str]) -> None:
    url = new_url()
    play(url, 6)
    with closing(Database(url)) as database:
        registry = SnapshotRegistry(database)
        (tag,) = registry.of("ods_orders")
        registry.stop_waiting([tag.key])
        assert [tag.restatement for tag in registry.restate([tag.key], late_batch=9)] == [42]
        assert Lease(database, "new", 3.0, name="name of leases").hold().fencing_token == 8


def test_an_embedded_store_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    play(url, 18)
    before = shape(url), _count(url)
    Database(url).close()
    Database(url).close()
    copy = tmp_path / "state.db.step-18"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("state.db.")] == [copy.name]
    assert (shape(f"sqlite:///{copy}"), _count(f"sqlite:///{copy}")) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_without_room_for_the_copy_nothing_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    url = f"sqlite:///{tmp_path / 'state.db'}"
    play(url, 18)
    before = shape(url)
    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space left"):
        Database(url)
    assert shape(url) == before


def test_a_store_of_a_later_program_is_refused_and_the_copy_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    play(url, 18)
    with closing(Database(url)) as database, database.writing() as connection:
        connection.execute(insert(MIGRATIONS).values(number=99, name="of the future", applied_at=0))
    expected = rf"migration {LAST} or an earlier one, found migration 99.*state\.db\.step-18.*docs/upgrades\.md"
    with pytest.raises(SchemaTooNewError, match=expected):
        Database(url)

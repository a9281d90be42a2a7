"""The same with state store and Dagster's storage in PostgreSQL, by its own programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backup.depot import NOW, Depot
from tests.backup.test_restore_backup import FIGURES, STATES, found, run
from tests.state_store.conftest import empty_database
from tidemark.backup import postgresql_dump
from tidemark.backup.errors import BackupProgramError
from tidemark.backup.postgresql_dump import PostgresqlDatabase
from tidemark.state_store.database import Database
from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres

pytestmark = [pytest.mark.components, pytest.mark.slow]


def test_a_lost_server_is_restored_to_its_state(
    postgres_server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, dagster = (empty_database(postgres_server.url, tmp_path) for _ in range(2))
    depot = Depot.at(tmp_path / "depot")
    (depot.home / "dagster.yaml").write_text("storage: {postgres: {postgres_url: {env: DAGSTER_DATABASE}}}\n")
    monkeypatch.setenv("TIDEMARK_STATE", state)
    monkeypatch.setenv("DAGSTER_DATABASE", dagster)
    depot.compute("2026-03-01", [1, 2])
    answer = run("backup", tmp_path / "backup", "--with-lake", root=depot.root)
    assert answer["tables"]["stock_1d"]["version"] == 0
    depot.compute("2026-03-01", [9])
    assert "tables in" in found("restore", tmp_path / "backup", root=depot.root)
    replaced = run("restore", tmp_path / "backup", "--replace", root=depot.root)["replaced"]
    assert sum("its schema before_restore_" in now for now in replaced.values()) == 2
    assert (depot.states(), depot.figures()) == (STATES, FIGURES)

    for name in ("TIDEMARK_STATE", "DAGSTER_DATABASE"):
        monkeypatch.setenv(name, empty_database(postgres_server.url, tmp_path))
    run("restore", tmp_path / "backup", "--into", tmp_path / "restored")
    restored = Depot(tmp_path / "restored")
    assert (restored.states(), restored.figures()) == (STATES, FIGURES)
    restored.compute("2026-03-02", [7])
    assert restored.figures() == [*FIGURES, ("2026-03-02", 7)]

    monkeypatch.delenv("TIDEMARK_STATE")
    assert "of another database" in found("restore", tmp_path / "backup", "--into", tmp_path / "other")


def test_tables_moved_aside_are_kept_and_not_in_later_dumps(postgres_server: Postgres, tmp_path: Path) -> None:
    url = empty_database(postgres_server.url, tmp_path)
    database = PostgresqlDatabase(url.replace("postgresql+psycopg2", "postgresql"))
    for content in ("first", "second"):
        store = Database(url)
        Notes(store, "of a test").put({"name": content})
        store.close()
        database.dump(tmp_path / content)
        assert database.has_tables()
        database.move_aside(NOW.replace(second=len(content)))
        assert not database.has_tables()
    sizes = {(tmp_path / content).stat().st_size for content in ("first", "second")}
    assert max(sizes) - min(sizes) < 1_000
    database.restore(tmp_path / "first")
    store = Database(url)
    assert Notes(store, "of a test").all() == {"name": "first"}
    store.close()


def test_a_missing_or_failing_program_is_an_error(
    postgres_server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = PostgresqlDatabase(empty_database(postgres_server.url, tmp_path).replace("tidemark@", "tidemark:hush@"))
    (tmp_path / "file").write_text("no dump")
    with pytest.raises(BackupProgramError, match="pg_restore failed") as failed:
        database.restore(tmp_path / "file")
    assert "hush" not in str(failed.value)
    monkeypatch.setattr(postgresql_dump, "find_program", lambda _: None)
    with pytest.raises(BackupProgramError, match="postgresql-client"):
        database.dump(tmp_path / "dump")

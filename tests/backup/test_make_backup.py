"""A backup is one point: what is copied later is never behind what was copied before, and a half one is none."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.backup.depot import NOW, TABLE, Depot
from tidemark.backup.errors import BackupDisturbedError, BackupPlaceError, BackupSourceError
from tidemark.backup.make_backup import BackupSource, make_backup
from tidemark.backup.manifest import BackupManifest
from tidemark.system.table_location import remote_location

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-03-02"


class Positions(NamedTuple):
    """How many versions of the table each copy knows of; the lake has them, Dagster was told, the store took it in."""

    store: int
    dagster: int
    lake: int


def positions(backup: Path) -> Positions:
    told = "SELECT count(DISTINCT snapshot_id) FROM transitions WHERE entity = ?"
    events = "SELECT count(*) FROM event_logs WHERE asset_key = ? AND dagster_event_type = 'ASSET_MATERIALIZATION'"
    return Positions(
        one(backup / "state/state.db", told, TABLE),
        one(backup / "dagster/history/runs/index.db", events, f'["{TABLE}"]'),
        len(list((backup / "lake" / TABLE / "_delta_log").glob("*.json"))),
    )


def one(file: Path, query: str, value: str) -> int:
    with closing(sqlite3.connect(file)) as database:
        count: int = database.execute(query, (value,)).fetchone()[0]
        return count


def test_runs_between_the_copies_leave_no_store_that_is_ahead(depot: Depot, tmp_path: Path) -> None:
    """A whole run ends after each copy: in any other order the store, or Dagster, would know of what is not there."""
    told = list[str]()

    def run_ends(what: str) -> None:
        told.append(what)
        if len(told) <= 2:
            depot.compute(DAY, [len(told)])

    manifest = depot.backup(tmp_path / "backup", run_ends)
    assert told[:3] == ["state store", "Dagster's storage", "positions of 1 tables"]
    assert positions(tmp_path / "backup") == Positions(store=1, dagster=2, lake=3)
    assert manifest.tables[TABLE].version == 2


@pytest.mark.slow
def test_writers_at_work_leave_no_store_that_is_ahead(depot: Depot, tmp_path: Path) -> None:
    stopped, failed = Event(), list[BaseException]()

    def write() -> None:
        numbers = 0
        try:
            while not stopped.is_set():
                numbers += 1
                depot.compute(DAY, [numbers])
        except BaseException as error:
            failed.append(error)
            raise

    writer = Thread(target=write)
    writer.start()
    for number in range(3):
        depot.backup(tmp_path / f"{number}")
    stopped.set()
    writer.join()
    assert failed == []
    for number in range(3):
        copied = positions(tmp_path / f"{number}")
        assert copied.store <= copied.dagster <= copied.lake, copied


def test_another_program_verifies_the_manifest_and_opens_each_copy(backup: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "manifest.sha256"], cwd=backup, check=True)
    manifest = BackupManifest.read(backup)
    lines = "".join(f"{file.sha256}  {name}\n" for name, file in manifest.files.items())
    subprocess.run(["sha256sum", "--check", "--strict", "-"], cwd=backup, input=lines, text=True, check=True)
    assert {path.name for path in backup.iterdir()} == {"manifest.json", "manifest.sha256"} | {
        *("state", "dagster", "lake", "project")
    }
    for file in backup.rglob("*.db"):
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_backup_that_breaks_off_leaves_nothing(depot: Depot, tmp_path: Path) -> None:
    class BrokenOffError(Exception):
        """Somebody's Ctrl-C."""

    def break_off(what: str) -> None:
        if what.startswith("lake"):
            raise BrokenOffError

    before = sorted(tmp_path.iterdir())
    with pytest.raises(BrokenOffError):
        depot.backup(tmp_path / "half", break_off)
    assert sorted(tmp_path.iterdir()) == before


def test_an_impossible_backup_is_refused_before_anything_is_written(
    depot: Depot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(BackupPlaceError, match="new folder"):
        depot.backup(tmp_path / "taken")
    with monkeypatch.context() as small:
        small.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
        with pytest.raises(BackupPlaceError, match="too little free space"):
            depot.backup(tmp_path / "small")
    depot.settings.state_db.write_bytes(depot.settings.state_db.read_bytes()[:8192] + b"\xff" * 200_000)
    with pytest.raises(BackupSourceError, match="damaged"):
        depot.backup(tmp_path / "damaged")
    depot.settings.state_db.unlink()
    with pytest.raises(BackupSourceError, match="no state store"):
        depot.backup(tmp_path / "none")
    assert {path.name for path in tmp_path.iterdir()} == {"depot", "taken"}


def test_files_that_go_away_meanwhile_are_a_reason_to_try_again(depot: Depot, tmp_path: Path) -> None:
    def vacuum(what: str) -> None:
        if what.startswith("positions"):
            next(depot.table.rglob("*.parquet")).unlink()

    with pytest.raises(BackupDisturbedError, match=TABLE):
        depot.backup(tmp_path / "backup", vacuum)


def test_secrets_data_and_earlier_backups_stay_out(depot: Depot) -> None:
    texts = {
        ".env": "TIDEMARK_DATABASES=a=mysql://user:hunter2@host/school\n",
        "warehouse.pem": "-----BEGIN PRIVATE KEY-----\n",
        "notes.yaml": "url: postgresql://user:hunter2@host/db\n",
        "resources/olap.py": 'URL = "postgresql://user:hunter2@host/db"\n',
        "resources/good.py": "password = os.environ['PASSWORD']\nURL = f'postgresql://{user}:{password}@host/db'\n",
        "conf/settings.yaml": "password: hunter2\n",
        "conf/by_variable.yaml": "password: {env: PASSWORD}\n",
        ".venv/pyvenv.cfg": "home = hunter2\n",
    }
    for name, text in texts.items():
        (depot.root / name).parent.mkdir(exist_ok=True)
        (depot.root / name).write_text(text)
    depot.backup(depot.root / "backups" / "first")
    manifest = depot.backup(depot.root / "backups" / "second")
    kept = set(manifest.in_folder("project"))
    assert kept == {
        *("tidemark.yaml", "resources/good.py", "conf/by_variable.yaml"),
        *(f"warehouse_assets/{name}" for name in ("project.yaml", "external/deliveries.yaml")),
        *(f"warehouse_assets/ads/{TABLE}.{kind}" for kind in ("yaml", "sql")),
    }
    assert set(manifest.left_out) == {"warehouse.pem", "notes.yaml", "resources/olap.py", "conf/settings.yaml"}
    folder = depot.root / "backups" / "second"
    assert not any(b"hunter2" in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_an_unreadable_table_is_reported_and_does_not_stop_the_backup(depot: Depot, tmp_path: Path) -> None:
    (depot.table / "_delta_log" / f"{0:020d}.json").write_text('{"metaData": {"id"')
    source = BackupSource(depot.settings, depot.home, depot.home)
    manifest = make_backup(source, tmp_path / "backup", NOW, lambda _: None, with_lake=False)
    assert "cannot be read" in manifest.tables[TABLE].trouble


def test_the_files_of_a_lake_elsewhere_are_refused_with_other_ways(depot: Depot, tmp_path: Path) -> None:
    settings = depot.settings.model_copy(
        update={"warehouse": remote_location("s3://bucket/lake", {"AWS_REGION": "eu-west-1"}, "warehouse")}
    )
    with pytest.raises(BackupSourceError, match="not on this machine's disk") as refused:
        make_backup(BackupSource(settings, depot.home, depot.home), tmp_path / "copy", NOW, print, with_lake=True)
    assert "tidemark replicate" in str(refused.value)
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]

"""`tidemark up-kafka`: refused where something is missing; and once whole, from rows to tagged snapshots."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pymysql
import pytest
from click.testing import CliRunner

from tests.components.availability import KAFKA, MARIADB, require
from tests.project import CHECKOUT
from tests.until import GUARD_SECONDS, until
from tidemark.console.main import main
from tidemark.console.preflight import installed_servers
from tidemark.console.servers.required_programs import RequiredProgram
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = RequiredProgram("MariaDB", (("no-such-mariadbd",),), "install the package mariadb-server")


def test_missing_programs_are_errors_before_anything_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_servers, "MARIADB", ABSENT)
    refused = CliRunner().invoke(main, ["up-kafka", "--port", "0"], env={"TIDEMARK_DATA": str(tmp_path / "data")})
    assert refused.exit_code == 1
    assert "MariaDB: not installed: no-such-mariadbd" in refused.output
    assert "install the package mariadb-server" in refused.output
    assert not (tmp_path / "data" / "kafka").exists()


def test_maven_is_asked_for_only_where_the_jars_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_servers, "KAFKA", RequiredProgram("Kafka", (("no-such-mvn",),), "install Maven"))
    assert [finding.verdict for finding in installed_servers.servers(tmp_path) if finding.subject == "Kafka"] == [
        "problem"
    ]
    monkeypatch.setattr(installed_servers, "are_there", lambda _: True)
    assert [finding for finding in installed_servers.servers(tmp_path) if finding.subject == "Kafka"] == []


OUTSIDE = ("orders_complete_1d", "dws_ad_spend_1d")
"""What the capture's counters complete, and what is computed of the partner's three regions."""


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.components
def test_rows_in_the_databases_become_tagged_snapshots_and_sigterm_stops_everything(tmp_path: Path) -> None:
    require(MARIADB, KAFKA)
    with _start(tmp_path) as started:
        below = _watch(started, tmp_path)
    assert [process for process in below if process.is_running() and process.status() != psutil.STATUS_ZOMBIE] == []


def _watch(started: subprocess.Popen[str], folder: Path) -> list[psutil.Process]:
    """See it come to tagged snapshots, and stop it; returns what it had started."""
    try:
        where = _announcement(started)
        below = psutil.Process(started.pid).children(recursive=True)
        assert {process.name() for process in below} >= {"mariadbd", "java"}
        options = where["databases"]["a"].split()[1].removeprefix("--defaults-extra-file=")
        with pymysql.connect(read_default_file=options, database="school") as session:
            cursor = session.cursor()
            cursor.execute("SELECT count(*) FROM users")
            assert cursor.fetchone() is not None
        registry = SnapshotRegistry.at(Settings.at(folder / "data" / "kafka").state_db)
        _until(
            lambda: {snapshot.slice for snapshot in registry.of("ods_orders", "day")} >= {"2026-03-23", "2026-03-24"},
            started,
        )
        store = StateStore(Database.of(Settings.at(folder / "data" / "kafka")))
        for name in OUTSIDE:
            _until(lambda name=name: _is_complete(store, Slice(name, "2026-03-23")), started)
        store.close()
    finally:
        started.send_signal(signal.SIGTERM)
        code = started.wait(GUARD_SECONDS)
    assert code == 0
    return below


def _is_complete(store: StateStore, slice_: Slice) -> bool:
    current = store.read.current(slice_)
    return current is not None and current.status.run_state is RunState.COMPLETED


def _start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tidemark.console", "up-kafka", "--json", "--port", "0", "--day-seconds", "20"]
    env = {**os.environ, "TIDEMARK_DATA": str(folder / "data")}
    return subprocess.Popen(command, cwd=CHECKOUT, env=env, stdout=subprocess.PIPE, text=True)


def _announcement(started: subprocess.Popen[str]) -> dict[str, Any]:
    assert started.stdout is not None
    line = started.stdout.readline()
    announcement: dict[str, Any] = json.loads(line)
    return announcement


def _until(holds: Any, started: subprocess.Popen[str], seconds: float = 1200.0) -> None:
    def goes_on() -> bool:
        assert started.poll() is None, "the chain ended by itself"
        return bool(holds())

    until(goes_on, seconds=seconds, pause=1.0)

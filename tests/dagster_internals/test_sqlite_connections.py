"""Dagster's SQLite files stay open: fewer waits for the disk, and nothing that was stored is lost by kill -9."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import dagster as dg
import pytest
import sqlalchemy as db

from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.dagster_internals.sqlite_connections import _OPEN

if TYPE_CHECKING:
    from pathlib import Path

RUNS = 40

WRITER = """
import os, signal, sys
import dagster as dg
from tidemark.dagster_internals.long_lived_connections import keep_connections

instance = dg.DagsterInstance.from_config(sys.argv[1])
keep_connections(instance)
for number in range(20):
    instance.report_runless_asset_event(dg.AssetMaterialization("orders", partition=str(number)))
print("stored", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _home(folder: Path) -> str:
    (folder / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    return str(folder)


def _partitions(home: str) -> list[str | None]:
    with dg.DagsterInstance.from_config(home) as instance:
        records = instance.fetch_materializations(dg.AssetKey("orders"), limit=100).records
    return [record.partition_key for record in records]


@pytest.mark.slow
def test_rows_stored_by_a_killed_process_are_kept(tmp_path: Path) -> None:
    """The only writer dies with its files open: their logs are read by whoever opens them next."""
    home = _home(tmp_path)
    killed = subprocess.run([sys.executable, "-c", WRITER, home], capture_output=True, text=True, check=False)
    assert (killed.returncode, killed.stdout.strip()) == (-signal.SIGKILL, "stored"), killed.stderr
    assert _partitions(home) == [str(number) for number in reversed(range(20))]


@pytest.mark.slow
def test_another_process_reads_while_the_files_are_open(tmp_path: Path) -> None:
    home = _home(tmp_path)
    with dg.DagsterInstance.from_config(home) as instance:
        keep_connections(instance)
        instance.report_runless_asset_event(dg.AssetMaterialization("orders", partition="today"))
        script = (
            "import dagster as dg, sys\n"
            "with dg.DagsterInstance.from_config(sys.argv[1]) as instance:\n"
            "    event = instance.get_latest_materialization_event(dg.AssetKey('orders'))\n"
            "    print(event.asset_materialization.partition)"
        )
        read = subprocess.run([sys.executable, "-c", script, home], capture_output=True, text=True, check=True)
    assert read.stdout.strip() == "today"


@pytest.mark.slow
@pytest.mark.long
def test_few_files_stay_open_however_many_runs_there_are(tmp_path: Path) -> None:
    with dg.DagsterInstance.from_config(_home(tmp_path)) as instance:
        keep_connections(instance)
        for number in range(RUNS):
            run = instance.create_run_for_job(_job, tags={"number": str(number)})
            instance.report_engine_event("here", run)
        ours = [file for file in _OPEN.names() if file.startswith(str(tmp_path))]
        assert str(tmp_path / "history" / "runs.db") in ours
        assert len(ours) <= len(_OPEN.names()) < RUNS
        assert len(instance.get_runs()) == RUNS


def test_files_of_others_are_opened_as_ever(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere.db"
    home.mkdir()
    with dg.DagsterInstance.from_config(_home(home)) as instance:
        keep_connections(instance)
        with db.create_engine(f"sqlite:///{elsewhere}").connect() as connection:
            assert connection.execute(db.text("PRAGMA journal_mode")).scalar() == "delete"
        assert str(elsewhere) not in _OPEN.names()


@dg.job
def _job() -> None:
    """No step."""

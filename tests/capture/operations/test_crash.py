"""Killed at any point and started again, ingestion ends in the state it would have had."""

import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.capture.operations.history import ShardedHistory
from tests.capture.operations.test_random_history import PARIS, content
from tests.lake_folder import lake_folder
from tidemark.capture.apply import table_ingest
from tidemark.capture.operations import ingestion as ingestion_module
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta import merge_transaction as merge_attempt
from tidemark.dependency_model.time import Period
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.settings import Settings

pytestmark = pytest.mark.spark

POINTS = (
    "ingest.before_commit",
    "merge.files_written",
    "merge.committed",
    "ingest.after_commit",
    "ingest.before_tags",
    "ingest.after_tags",
)
IN_EVERY_RUN = ("ingest.before_tags",)
_REPEATED = functools.partial(pytest.param, marks=pytest.mark.long)
ORDERS = SourceTable(
    "ods_orders", "school.orders_*", ("a", "b"), ("order_id",), "order_date", (("ods_orders", "day", "2026-03-23"),)
)
DAYS = ["2026-03-23", "2026-03-24", "2026-03-25"]


class Killed(BaseException):
    """What a SIGKILL is to the code that runs: nothing of it goes on."""


def land_history(data: Path, seed: int) -> tuple[Settings, ShardedHistory]:
    settings, history = Settings.at(data), ShardedHistory(seed, days=3, changes=40)
    for stream in history.streams.values():
        stream.land(settings.landing, 0)
    return settings, history


def check(spark: SparkSession, settings: Settings, history: ShardedHistory, tagged: tuple[TaggedSnapshot, ...]) -> None:
    assert [snapshot.slice for snapshot in tagged][:3] == DAYS
    for snapshot in tagged[:3]:
        expected = history.state_at(PARIS.window(Period.DAY, snapshot.slice).end)
        assert content(spark, lake_folder(settings.warehouse / "ods_orders"), snapshot.version) == expected, snapshot


@pytest.mark.parametrize("point", [point if point in IN_EVERY_RUN else _REPEATED(point) for point in POINTS])
def test_a_step_that_stops_at_a_point_is_completed_by_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    settings, history = land_history(tmp_path / "data", seed=3)
    registry = SnapshotRegistry.at(settings.state_db)

    def die(name: str) -> None:
        if name == point:
            raise Killed

    with monkeypatch.context() as patch:
        for module in (merge_attempt, table_ingest, ingestion_module):
            patch.setattr(module, "crash_point", die)
        with pytest.raises(Killed):
            Ingestion(spark, settings, [ORDERS], registry).step()
    Ingestion(spark, settings, [ORDERS], registry).step()
    check(spark, settings, history, registry.of("ods_orders"))


@pytest.mark.long
def test_killed_for_real_between_commit_and_name(spark: SparkSession, tmp_path: Path) -> None:
    settings, history = land_history(tmp_path / "data", seed=4)
    program = (
        "from pathlib import Path; import sys\n"
        "from tidemark.system.settings import Settings; from tidemark.spark.session import spark_session\n"
        "from tests.capture.operations.test_crash import ORDERS, Ingestion, SnapshotRegistry\n"
        "settings = Settings.at(Path(sys.argv[1]))\n"
        "Ingestion(spark_session(settings), settings, [ORDERS], SnapshotRegistry.at(settings.state_db)).step()\n"
    )
    env = {**os.environ, ENV_NAME: "ingest.after_commit:2"}
    killed = subprocess.run([sys.executable, "-c", program, str(settings.data)], env=env, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    registry = SnapshotRegistry.at(settings.state_db)
    assert registry.of("ods_orders") == ()
    report = Ingestion(spark, settings, [ORDERS], registry).step()
    assert [snapshot.slice for snapshot in report.closed][:3] == DAYS
    check(spark, settings, history, registry.of("ods_orders"))


@pytest.mark.long
def test_names_are_built_again_from_the_log(spark: SparkSession, tmp_path: Path) -> None:
    settings, _ = land_history(tmp_path / "data", seed=5)
    registry = SnapshotRegistry.at(settings.state_db)
    Ingestion(spark, settings, [ORDERS], registry).step()
    before = [(entry.slice, entry.version, entry.rows) for entry in registry.of("ods_orders")]
    registry.forget("ods_orders")
    report = Ingestion(spark, settings, [ORDERS], registry).step()
    assert [(entry.slice, entry.version, entry.rows) for entry in registry.of("ods_orders")] == before
    assert report.commits == 0

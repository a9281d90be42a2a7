"""After a restore, the positions, tags and lease of the capture are named, and brought together."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from tests.backup.depot import DECLARATIONS, Depot
from tests.backup.test_restore_backup import run
from tests.capture.operations.test_bad_input import TABLES
from tests.capture.streams import USERS, Stream, at
from tests.project import write_project
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.capture.source.kafka.errors import BrokerDownError
from tidemark.center.capture_after_restore import CaptureAfterRestore
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings
from tidemark.system.sqlite_copies import copy_sqlite
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

CAPTURED = (
    "period: day\nkind: Snapshot\nstart: 2026-03-23\nkey: [user_id]\nsource: {table: school.users, instances: [a]}\n"
)
DAY = "2026-03-23"
READ = 120


@pytest.fixture
def depot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Depot:
    """A project with a captured table, read up to an offset, whose only tag is missing."""
    depot = Depot.at(tmp_path / "depot")
    write_project(depot.root, {**DECLARATIONS, "ods/ods_users.yaml": CAPTURED}, "time_zone: UTC\n")
    end = SliceEnd(int(datetime(2026, 3, 24, tzinfo=UTC).timestamp() * 1_000), "ods_users", "day", DAY)
    state = CommitState(batch=1, offsets={"cdc.a": READ}, closes=(end,), counts={"changes": 1})
    own = CommitProperties(custom_metadata={"userMetadata": state.to_json()})
    rows = pa.table({"user_id": [1], "day": [date(2026, 3, 23)]})
    write_deltalake(str(depot.settings.warehouse / "ods_users"), rows, commit_properties=own)
    StateStore.of(depot.settings).close()
    monkeypatch.setenv("TIDEMARK_KAFKA", "127.0.0.1:1")
    return depot


def plan(depot: Depot, *arguments: str, exit_code: int = 1) -> dict[str, list[str]]:
    told: dict[str, Any] = run("doctor", "--after-restore", *arguments, root=depot.root, exit_code=exit_code)
    return {step["do"]: [*step["names"], *step["slices"]] for step in told["plan"]}


@pytest.mark.parametrize(
    ("low", "high", "do", "name"),
    [
        (0, READ, "", ""),
        (100, 456, "catch up", "ods_users: cdc.a from 120 of 456"),
        (130, 456, "see to", "ods_users: cdc.a from 120 of 456, which begins at 130"),
        (0, 7, "see to", "ods_users: cdc.a from 120 of 7"),
    ],
)
def test_the_position_of_each_table_in_its_topic_is_named(
    low: int, high: int, do: str, name: str, depot: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broker, "look", lambda *_: {"cdc.a": Bounds(low, high)})
    positions = {do: [name]} if do else {}
    needs_a_person = do == "see to"
    wanted = {"tag again": [f"ods_users@{DAY}"], **positions}
    assert plan(depot, exit_code=int(needs_a_person)) == wanted
    assert plan(depot, "--apply", exit_code=int(needs_a_person)) == wanted


def test_a_broker_that_does_not_answer_is_named(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> Iterator[None]:
        raise BrokerDownError.of("127.0.0.1:1", "no answer")

    monkeypatch.setattr(Broker, "look", silent)
    assert plan(depot)["see to"] == ["cdc.a"]


def test_the_lease_of_a_later_state_store_is_taken_over(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broker, "look", lambda *_: {"cdc.a": Bounds(0, READ)})
    settings, now = depot.settings, datetime.now(UTC)
    own = CaptureLease.obtain(settings, Database.of(settings), now)
    replace(own, holder="another", fencing_token=own.fencing_token + 3).write_to(settings.warehouse)
    assert plan(depot)["take over"] == [f"another on {own.host}, fencing token {own.fencing_token + 3}"]
    plan(depot, "--apply", exit_code=0)
    assert "take over" not in plan(depot, exit_code=0)
    assert CaptureLease.obtain(settings, Database.of(settings), now).fencing_token == own.fencing_token + 4


@pytest.mark.spark
@pytest.mark.long
def test_a_store_of_yesterday_gets_the_tags_of_the_lake_of_today(spark: SparkSession, tmp_path: Path) -> None:
    write_project(tmp_path, {"ods/ods_users.yaml": CAPTURED}, "time_zone: UTC\n")
    settings = Settings.load({"TIDEMARK_ROOT": str(tmp_path)})
    a = Stream("a")

    def capture(until: str) -> None:
        start = len(a.lines)
        a.change("users", None, {"user_id": start, "name": "n"}, at(f"{until} 10:00"))
        a.heartbeat(at(f"{until} 23:59"))
        a.heartbeat(at(f"{until[:-2]}{int(until[-2:]) + 1} 00:01"))
        a.land(settings.landing, start)
        registry = SnapshotRegistry.at(settings.state_db)
        Ingestion(spark, settings, [replace(TABLES[1], snapshot_series=(("ods_users", "day", DAY),))], registry).step()

    def tags() -> list[str]:
        return [slice_ for day in range(23, 26) if _has_tag(settings, slice_ := f"2026-03-{day}")]

    a.declare("users", USERS, at("2026-03-23 09:00"))
    a.land(settings.landing, 0)
    capture("2026-03-23")
    copy_sqlite(settings.state_db, tmp_path / "yesterday")
    capture("2026-03-24")
    assert tags() == ["2026-03-23", "2026-03-24"]
    for file in settings.state_db.parent.glob("state.db*"):
        file.unlink()
    shutil.copy(tmp_path / "yesterday", settings.state_db)
    store = StateStore.of(settings)
    compared = CaptureAfterRestore(load_warehouse(settings), store)
    assert [(step.kind.value, list(map(str, step.slices))) for step in compared.steps()] == [
        ("tag again", ["ods_users@2026-03-24"])
    ]
    capture("2026-03-25")
    assert tags() == ["2026-03-23", "2026-03-24", "2026-03-25"]
    assert list(compared.steps()) == []
    store.close()


def _has_tag(settings: Settings, slice_: str) -> bool:
    return SnapshotRegistry.at(settings.state_db).get("ods_users", "day", slice_) is not None

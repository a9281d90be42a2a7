"""Late events put into the snapshots they belong to: exact, once, and the same after a kill at any point."""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.operations.history import Content, ShardedHistory, decode
from tests.capture.operations.test_crash import Killed
from tests.capture.operations.test_random_history import Feeder
from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.apply import table_ingest
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.operations import ingestion as ingestion_module
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.snapshots.late import late_change_table as kept_module
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.snapshots.late.snapshot_with_late_changes import with_late_changes
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_table, table_exists
from tidemark.dependency_model.time import Calendar, Period
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

PARIS = Calendar("Europe/Paris")
TABLE = SourceTable(
    name="ods_orders",
    table="school.orders_*",
    instances=("a",),
    key=("order_id",),
    partition_by="order_date",
    snapshot_series=(("ods_orders", "day", "2026-03-23"), ("ods_orders_1h", "hour", "2026-03-23T22")),
    restated=frozenset({"ods_orders"}),
)


@dataclass
class RestatingCapture:
    """A warehouse and what captures into it."""

    spark: SparkSession
    settings: Settings
    registry: SnapshotRegistry
    table: SourceTable = TABLE

    def step(self) -> IngestReport:
        """A step of a process that was just started."""
        return Ingestion(self.spark, self.settings, [self.table], self.registry).step()

    def tagged(self, entity: str = "ods_orders") -> dict[str, TaggedSnapshot]:
        return {entry.slice: entry for entry in self.registry.of(entity)}

    def rows(self, tagged: TaggedSnapshot) -> list[Any]:
        version = read_table(self.spark, self.settings.warehouse / "ods_orders", tagged.version)
        if not tagged.is_restated:
            return version.collect()
        late = read_table(self.spark, late_path(self.settings.warehouse, "ods_orders"))
        end_ms = int(PARIS.window(Period.parse(tagged.period), tagged.slice).end.timestamp() * 1000)
        return with_late_changes(version, late, ("_shard", "order_id"), end_ms, tagged.late_batch).collect()

    def amounts(self, tagged: TaggedSnapshot) -> dict[int, str]:
        return {row["order_id"]: str(row["amount"]) for row in self.rows(tagged)}


@pytest.fixture
def capture(tmp_path: Path, spark: SparkSession) -> RestatingCapture:
    settings = Settings.at(tmp_path / "data")
    return RestatingCapture(spark, settings, SnapshotRegistry.at(settings.state_db))


def first_day(stream: Stream) -> None:
    """Three orders of the 23rd, and a heartbeat behind its midnight (23:00 UTC)."""
    stream.declare("orders_0", ORDERS, at("2026-03-23 09:00"))
    for order_id in (1, 2, 3):
        stream.change("orders_0", None, order(order_id, "1.00", 23), at("2026-03-23 10:00"))
    stream.heartbeat(at("2026-03-23 23:01"))


def land_late_events(capture: RestatingCapture) -> None:
    """The first day, captured, and then what came late, to be captured."""
    stream = Stream("a")
    first_day(stream)
    stream.land(capture.settings.landing, 0)
    capture.step()
    landed = len(stream.lines)
    late_events(stream)
    stream.land(capture.settings.landing, landed)


def late_events(stream: Stream) -> None:
    """On the 24th order 1 changes; then come of the 23rd another change of it, a delete of 2 and a new 4."""
    stream.change("orders_0", order(1, "1.00", 23), order(1, "2.00", 23), at("2026-03-23 23:05"))
    stream.change("orders_0", order(1, "2.00", 23), order(1, "3.00", 23), at("2026-03-23 22:59"))
    stream.change("orders_0", order(2, "1.00", 23), None, at("2026-03-23 22:58"))
    stream.change("orders_0", None, order(4, "4.00", 23), at("2026-03-23 22:58"))


def test_a_restated_snapshot_is_its_version_and_the_late_changes(capture: RestatingCapture) -> None:
    stream = Stream("a")
    first_day(stream)
    stream.land(capture.settings.landing, 0)
    capture.step()
    before, landed = capture.tagged()["2026-03-23"], len(stream.lines)
    assert (before.generation, before.is_restated) == (1, False)

    late_events(stream)
    stream.heartbeat(at("2026-03-24 23:01"))
    stream.land(capture.settings.landing, landed)
    report = capture.step()
    tagged = capture.tagged()
    assert report.late == {"ods_orders": 3}
    assert [text for text in report.warnings if "waited for them: 1, the first ods_orders 2026-03-23" in text]
    assert tagged["2026-03-23"] == replace(
        before, generation=2, late_batch=tagged["2026-03-23"].late_batch, restatement=1
    )
    assert capture.amounts(tagged["2026-03-23"]) == {1: "3.00", 3: "1.00", 4: "4.00"}
    assert capture.amounts(before) == {1: "1.00", 2: "1.00", 3: "1.00"}
    assert capture.amounts(tagged["2026-03-24"]) == {1: "3.00", 3: "1.00", 4: "4.00"}
    assert tagged["2026-03-24"].generation == 1
    last = last_commit(capture.settings.warehouse / "ods_orders")
    assert last is not None
    assert last.state.late == {"ods_orders": {"2026-03-23": 3}, "ods_orders_1h": {"2026-03-23T23": 3}}
    # The hours of the same table keep their policy.
    assert {snapshot.generation for snapshot in capture.tagged("ods_orders_1h").values()} == {1}

    landed = len(stream.lines)
    stream.change("orders_0", order(3, "1.00", 23), order(3, "9.00", 23), at("2026-03-23 22:00"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    again = capture.tagged()
    assert [again[day].generation for day in ("2026-03-23", "2026-03-24")] == [3, 2]
    assert capture.amounts(again["2026-03-23"]) == {1: "3.00", 3: "9.00", 4: "4.00"}
    assert capture.amounts(again["2026-03-24"]) == {1: "3.00", 3: "9.00", 4: "4.00"}


@pytest.mark.long
def test_a_snapshot_waits_for_slightly_late_changes(capture: RestatingCapture) -> None:
    capture.table = replace(TABLE, restated=frozenset(), lateness={"ods_orders": 10 * 60_000})
    stream = Stream("a")
    first_day(stream)
    stream.land(capture.settings.landing, 0)
    capture.step()
    first, landed = capture.tagged()["2026-03-23"], len(stream.lines)
    assert (first.waits_for_late, first.late_batch) == (True, 0)
    # The hours of the same table wait for nothing.
    assert not any(snapshot.waits_for_late for snapshot in capture.tagged("ods_orders_1h").values())

    late_events(stream)
    stream.land(capture.settings.landing, landed)
    capture.step()
    waiting = capture.tagged()["2026-03-23"]
    assert waiting == replace(first, late_batch=waiting.late_batch)
    assert waiting.late_batch > 0

    landed = len(stream.lines)
    stream.change("orders_0", order(4, "4.00", 23), order(4, "5.00", 23), at("2026-03-23 22:00"))
    stream.heartbeat(at("2026-03-23 23:10"))
    stream.change("orders_0", order(3, "1.00", 23), order(3, "9.00", 23), at("2026-03-23 22:00"))
    stream.land(capture.settings.landing, landed)
    assert capture.step().late == {"ods_orders": 2}
    settled = capture.tagged()["2026-03-23"]
    assert (settled.waits_for_late, settled.generation, settled.restatement) == (False, 1, 0)
    # What comes behind the end of waiting is in the next snapshot, also when it was read at once with what is before.
    assert capture.amounts(settled) == {1: "3.00", 3: "1.00", 4: "5.00"}

    capture.registry.forget("ods_orders")
    capture.step()
    assert replace(capture.tagged()["2026-03-23"], tagged_at=settled.tagged_at) == settled


@pytest.mark.long
def test_only_the_newest_names_are_kept(capture: RestatingCapture) -> None:
    capture.table = replace(TABLE, kept={"ods_orders_1h": 2})
    stream = Stream("a")
    first_day(stream)
    stream.heartbeat(at("2026-03-24 01:01"))
    stream.land(capture.settings.landing, 0)
    for _ in range(2):
        capture.step()
        assert [*capture.tagged("ods_orders_1h")] == ["2026-03-24T00", "2026-03-24T01"]
        assert [*capture.tagged()] == ["2026-03-23"]
        capture.registry.forget("ods_orders_1h")


@pytest.mark.long
def test_names_wait_as_long_as_was_declared_when_they_were_given(capture: RestatingCapture) -> None:
    capture.table = replace(TABLE, lateness={"ods_orders": 10 * 60_000})
    stream = Stream("a")
    first_day(stream)
    stream.land(capture.settings.landing, 0)
    capture.step()
    assert capture.tagged()["2026-03-23"].waits_for_late
    # Nor are names from before given to those who wait from now on.
    capture.table = replace(TABLE, restated=frozenset(), lateness={"ods_orders_1h": 60_000})
    landed = len(stream.lines)
    late_events(stream)
    stream.land(capture.settings.landing, landed)
    capture.step()
    assert capture.tagged()["2026-03-23"].waits_for_late
    assert capture.amounts(capture.tagged()["2026-03-23"]) == {1: "3.00", 3: "1.00", 4: "4.00"}
    landed = len(stream.lines)
    stream.heartbeat(at("2026-03-23 23:10"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    tagged = {entity: capture.tagged(entity) for entity in ("ods_orders", "ods_orders_1h")}
    assert not any(name.waits_for_late or name.generation > 1 for names in tagged.values() for name in names.values())
    # The newest commit settles and does nothing else: the walk back through the log goes on behind it.
    for lost in (["ods_orders"], ["ods_orders", "ods_orders_1h"]):
        for entity in lost:
            capture.registry.forget(entity)
        capture.step()
        for entity, names in tagged.items():
            assert capture.tagged(entity) == {
                key: replace(snapshot, tagged_at=capture.tagged(entity)[key].tagged_at)
                for key, snapshot in names.items()
            }


@pytest.mark.long
def test_changes_of_a_slow_clock_restate_nothing(capture: RestatingCapture) -> None:
    stream = Stream("a")
    first_day(stream)
    stream.heartbeat(at("2026-03-23 23:02"), beat_at=at("2026-03-23 23:02"))
    stream.heartbeat(at("2026-03-23 22:02"), beat_at=at("2026-03-23 23:03"))
    stream.land(capture.settings.landing, 0)
    capture.step()
    landed = len(stream.lines)
    stream.change("orders_0", None, order(4, "4.00", 23), at("2026-03-23 22:03"))
    stream.land(capture.settings.landing, landed)
    assert capture.step().late == {"ods_orders": 1}
    assert capture.tagged()["2026-03-23"].generation == 1

    landed = len(stream.lines)
    stream.heartbeat(at("2026-03-23 23:04"), beat_at=at("2026-03-23 23:04"))
    stream.change("orders_0", None, order(5, "5.00", 23), at("2026-03-23 22:59"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    assert capture.amounts(capture.tagged()["2026-03-23"]) == {1: "1.00", 2: "1.00", 3: "1.00", 5: "5.00"}


_LONG = functools.partial(pytest.param, marks=pytest.mark.long)


@pytest.mark.parametrize(
    "point",
    [
        _LONG("late_changes.stored"),
        _LONG("ingest.before_commit"),
        _LONG("ingest.after_commit"),
        _LONG("ingest.before_tags"),
        _LONG("ingest.after_tags"),
    ],
)
def test_a_step_that_stops_leaves_the_old_snapshot_and_the_next_makes_the_new_one(
    capture: RestatingCapture, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    capture.table = replace(TABLE, snapshot_series=TABLE.snapshot_series[:1])
    stream = Stream("a")
    first_day(stream)
    stream.land(capture.settings.landing, 0)
    capture.step()
    old, landed = capture.tagged()["2026-03-23"], len(stream.lines)
    late_events(stream)
    stream.land(capture.settings.landing, landed)

    def die(name: str) -> None:
        if name == point:
            raise Killed

    with monkeypatch.context() as patch:
        for module in (kept_module, table_ingest, ingestion_module):
            patch.setattr(module, "crash_point", die)
        with pytest.raises(Killed):
            capture.step()
    restated = capture.tagged()["2026-03-23"]
    assert restated.generation == (2 if point == "ingest.after_tags" else 1)
    if not restated.is_restated:
        assert capture.amounts(restated) == capture.amounts(old) == {1: "1.00", 2: "1.00", 3: "1.00"}
    # The next step finds more than the one that died, so that it cuts other commits.
    stream.heartbeat(at("2026-03-24 23:01"))
    stream.change("orders_0", None, order(5, "5.00", 23), at("2026-03-23 22:57"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    assert capture.amounts(capture.tagged()["2026-03-23"]) == {1: "3.00", 3: "1.00", 4: "4.00", 5: "5.00"}
    late = read_table(capture.spark, late_path(capture.settings.warehouse, "ods_orders")).collect()
    assert sorted((row["_offset"], row["order_id"]) for row in late) == sorted(
        (json.loads(line)["offset"], order_id)
        for line in stream.lines[landed:]
        if (order_id := _late_order(line)) is not None
    )


def _late_order(line: str) -> int | None:
    value = json.loads(line)["value"]
    image = value and (value["after"] or value["before"])
    is_late = value and value["source"]["ts_ms"] < at("2026-03-23 23:00").timestamp() * 1000
    return image.get("order_id") if is_late else None


def state_with_late(history: ShardedHistory, end: datetime, waits: timedelta | None = None) -> Content:
    """Every change that is dated before `end`, in the order of the binlogs.

    If the snapshot `waits`, of each binlog only what is before its first record that is so much later than the end.
    """
    content: Content = {}
    for instance, stream in history.streams.items():
        for value in (json.loads(line)["value"] for line in stream.lines):
            if waits and value and value.get("op") and value["source"]["ts_ms"] >= (end + waits).timestamp() * 1000:
                break
            if value and value.get("op") and value["source"]["table"] != "heartbeat":
                if value["source"]["ts_ms"] >= end.timestamp() * 1000:
                    continue
                key = f"{instance}.school.{value['source']['table']}", (value["after"] or value["before"])["order_id"]
                content.pop(key, None)
                if value["after"]:
                    content[key] = decode(value["after"])
    return content


@pytest.mark.long
@pytest.mark.parametrize("waits", [None, timedelta(minutes=30), timedelta(hours=3)])
@pytest.mark.parametrize("seed", range(1, 6))
def test_every_snapshot_of_a_random_life_holds_its_late_changes(
    capture: RestatingCapture, seed: int, waits: timedelta | None
) -> None:
    history, chance = ShardedHistory(seed, changes=80, late=0.1), random.Random(seed)
    hours = ("ods_orders_1h", "hour", "2026-03-24T20")
    entities = frozenset({"ods_orders", "ods_orders_1h"})
    capture.table = replace(
        TABLE, instances=("a", "b"), snapshot_series=(TABLE.snapshot_series[0], hours), restated=entities
    )
    if waits:
        late_ms = dict.fromkeys(entities, waits // timedelta(milliseconds=1))
        capture.table = replace(capture.table, restated=frozenset(), lateness=late_ms)
    feeders = [Feeder(stream, capture.settings.landing, chance) for stream in history.streams.values()]
    for share in (0.4, 0.3, 1):
        for feeder in feeders:
            feeder.land_some(share)
        capture.step()
    days = list(capture.tagged().values())
    assert [day.slice for day in days] == ["2026-03-23", "2026-03-24", "2026-03-25", "2026-03-26"]
    hourly = list(capture.tagged("ods_orders_1h").values())
    restated = [snapshot for snapshot in hourly if snapshot.is_restated]
    assert waits or (restated and any(day.is_restated for day in days))
    assert not waits or {day.generation for day in (*days, *hourly)} == {1}
    for snapshot in (*days, *chance.sample(restated, min(3, len(restated))), *chance.sample(hourly, 2)):
        rows = capture.rows(snapshot)
        values = {(row["_shard"], row["order_id"]): _values_of(row) for row in rows}
        expected = state_with_late(history, PARIS.window(Period.parse(snapshot.period), snapshot.slice).end, waits)
        if "coupon" not in rows[0].asDict():  # the table got that column after the slice's end
            expected = {key: (*told[:-1], None) for key, told in expected.items()}
        assert values == expected, snapshot


def _values_of(row: Any) -> tuple[Any, ...]:
    return row["note"], row["amount"], row["order_date"], row.asDict().get("coupon")


@pytest.mark.long
def test_killed_for_real_before_the_commit_that_says_it(capture: RestatingCapture) -> None:
    land_late_events(capture)
    program = (
        "from pathlib import Path; import sys\n"
        "from tidemark.system.settings import Settings; from tidemark.spark.session import spark_session\n"
        "from tests.capture.snapshots.late.test_restatement import TABLE, Ingestion, SnapshotRegistry\n"
        "settings = Settings.at(Path(sys.argv[1]))\n"
        "Ingestion(spark_session(settings), settings, [TABLE], SnapshotRegistry.at(settings.state_db)).step()\n"
    )
    env = {**os.environ, ENV_NAME: "late_changes.stored"}
    data = str(capture.settings.data)
    killed = subprocess.run([sys.executable, "-c", program, data], env=env, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert capture.amounts(capture.tagged()["2026-03-23"]) == {1: "1.00", 2: "1.00", 3: "1.00"}
    capture.step()
    assert capture.amounts(capture.tagged()["2026-03-23"]) == {1: "3.00", 3: "1.00", 4: "4.00"}


@pytest.mark.long
def test_late_changes_before_and_after_a_column_became_wider_are_all_in_it(capture: RestatingCapture) -> None:
    stream = Stream("a")
    narrow = {**ORDERS, "user_id": "INT"}
    stream.declare("orders_0", narrow, at("2026-03-23 09:00"))
    stream.change("orders_0", None, order(1, "1.00", 23, user_id=7), at("2026-03-23 10:00"))
    stream.heartbeat(at("2026-03-23 23:01"))
    stream.land(capture.settings.landing, 0)
    capture.step()
    landed = len(stream.lines)
    stream.change("orders_0", None, order(2, "2.00", 23, user_id=8), at("2026-03-23 22:00"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    landed = len(stream.lines)
    stream.declare("orders_0", ORDERS, at("2026-03-23 23:10"))
    stream.change("orders_0", None, order(3, "3.00", 23, user_id=2**40), at("2026-03-23 22:00"))
    stream.land(capture.settings.landing, landed)
    capture.step()
    tagged = capture.tagged()["2026-03-23"]
    assert tagged.generation == 3
    restated = {row["order_id"]: (row["user_id"], str(row["amount"])) for row in capture.rows(tagged)}
    assert restated == {1: (7, "1.00"), 2: (8, "2.00"), 3: (2**40, "3.00")}


@pytest.mark.long
def test_names_are_moved_again_from_the_log(capture: RestatingCapture) -> None:
    land_late_events(capture)
    capture.step()
    before = capture.tagged()["2026-03-23"]
    capture.registry.forget("ods_orders")
    capture.step()
    again = capture.tagged()["2026-03-23"]
    assert replace(again, restatement=before.restatement, tagged_at=before.tagged_at) == before
    assert again.restatement > before.restatement


@pytest.mark.long
def test_a_table_that_does_not_restate_keeps_nothing_of_them(capture: RestatingCapture) -> None:
    capture.table = replace(TABLE, restated=frozenset())
    land_late_events(capture)
    assert capture.step().late == {"ods_orders": 3}
    assert capture.tagged()["2026-03-23"].generation == 1
    assert not table_exists(late_path(capture.settings.warehouse, "ods_orders"))

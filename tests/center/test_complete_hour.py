"""The first story of seed 002, step by step, on Delta tables in a running Dagster, to content that an oracle has.

Parts of `foo` are counted at the source and in the lake in slots of ten minutes that begin at eight. Once the slot
[15:58, 16:08) agrees, hour 15 and the windows at its end are complete, and with them begins what waits for just these.
Hours 14 and 15 have many small files by then, of which those of hour 14 came late: they are compacted, and nobody whose
rows are the same computes anything for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.catalog.catalog import Catalog
from tidemark.center.detectors.observed_in_dagster import MaterializedAssets
from tidemark.center.detectors.outside import OutsideDetector
from tidemark.center.detectors.storage import StorageDetector
from tidemark.center.outside_world import look_once
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.crawler import Crawler
from tidemark.dagster.jobs.cluster import JOB
from tidemark.dagster.sensors import cluster_sensors
from tidemark.dependency_model.status import RunState
from tidemark.state_store.record_counts import RecordCount, RecordCounts, Side

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

DAY = "2026-03-30"
PROJECT = f"time_zone: UTC\nstart: {DAY}T14\nend: {DAY}T16\n"
COUNTED = "probe: {counts: {of: foo, slot_minutes: 10, phase: 8}}\n"
WINDOWS = {"foo_5min": 5, "foo_10min": 10, "foo_1h": 60}
FILES = {
    "foo_5min.yaml": f"kind: Virtual\nperiod: 5min\nseries: foo\nend: {DAY}T17\n{COUNTED}",
    "foo_10min.yaml": f"kind: Virtual\nperiod: 10min\nseries: foo\n{COUNTED}",
    "foo_1h.yaml": f"kind: Virtual\nperiod: hour\nseries: foo\ncluster_by: [v]\n{COUNTED}",
    "features.yaml": "period: hour\ndepends_on: [foo_1h, {entity: features, offset: Set -1}]\n",
    "features.sql": "SELECT max(v) AS v FROM foo_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
    "recent.yaml": f"period: 10min\nstart: {DAY}T15\n",
    "recent.sql": (
        "SELECT sum(v) AS v FROM foo_10min WHERE dt = :biz_date AND hour = :biz_hour AND minute = :biz_minute\n"
    ),
    "up_to.yaml": "kind: Cumulative\nperiod: hour\ngranularity: day\n",
    "up_to.sql": "SELECT sum(v) AS v FROM foo_1h WHERE dt = :biz_date AND hour <= :biz_hour\n",
    "clean.yaml": "period: hour\ncluster_by: [v]\nquality: [{not_null: [v]}, {row_count: {min: 1}}]\n",
    "clean.sql": "SELECT /*+ REPARTITION(10) */ v FROM foo_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
    "report.yaml": "period: hour\n",
    "report.sql": "SELECT count(*) AS v FROM clean WHERE dt = :biz_date AND hour = :biz_hour\n",
}
BEGIN, END = datetime(2026, 3, 30, 14, tzinfo=UTC), datetime(2026, 3, 30, 16, 8, tzinfo=UTC)
A_MINUTE = 30_000
ROWS = [(7 * minute + 1, BEGIN + timedelta(minutes=minute)) for minute in range(120)]
"""A figure and its time, one a minute."""
LATE = [(0, BEGIN + timedelta(minutes=minute)) for minute in range(9)]
"""Records of hour 14 that are among the few that the share lets be missing: nobody waits for them, or begins anew."""
ORACLE = """
WITH foo AS (SELECT v, date_trunc('hour', seen) AS hour, time_bucket(INTERVAL 10 MINUTES, seen) AS ten FROM rows)
SELECT 'features', strftime(hour, '%Y-%m-%dT%H'), max(v) FROM foo GROUP BY ALL
UNION ALL SELECT 'recent', strftime(ten, '%Y-%m-%dT%H:%M'), sum(v) FROM foo WHERE hour(ten) = 15 GROUP BY ALL
UNION ALL SELECT 'up_to', strftime(hour, '%Y-%m-%dT%H'), sum(sum(v)) OVER (ORDER BY hour) FROM foo GROUP BY hour
UNION ALL SELECT 'report', strftime(hour, '%Y-%m-%dT%H'), count(*) FROM foo GROUP BY ALL
"""


def expected() -> dict[str, int]:
    """What every flow has to hold, recomputed from scratch from what arrived."""
    with duckdb.connect() as connection:
        rows = [{"v": v, "seen": at.replace(tzinfo=None)} for v, at in ROWS]
        connection.register("rows", pa.Table.from_pylist(rows))
        return {f"{name}@{key}": int(v) for name, key, v in connection.execute(ORACLE).fetchall()}


def land(world: RunningWarehouse) -> None:
    """The rows of each kind of window: what is there before anybody knows that it is all. Hours come in small files."""
    for name, minutes in WINDOWS.items():
        parts = [ROWS[at : at + 10] for at in range(0, len(ROWS), 10)] if minutes == 60 else [ROWS]
        for part in parts:
            land_file(world, name, minutes, part)


def land_file(world: RunningWarehouse, name: str, minutes: int, records: list[tuple[int, datetime]]) -> None:
    rows = []
    for v, at in records:
        minute = {} if minutes == 60 else {"minute": f"{at.minute // minutes * minutes:02}"}
        rows.append({"v": v, "dt": at.date(), "hour": f"{at.hour:02}", **minute})
    keys = [key for key in rows[0] if key != "v"]
    path = str(world.warehouse.table_path(name))
    write_deltalake(path, pa.Table.from_pylist(rows), mode="append", partition_by=keys)


@dataclass
class Compaction:
    """The project's sensors that ask for compaction, and the runs that they ask for, as Dagster's daemon has both."""

    world: RunningWarehouse
    cursors: dict[str, str | None] = field(default_factory=dict)

    def go_on(self) -> set[str]:
        """Each sensor once; tables and partitions that it asked for."""
        asked: set[str] = set()
        job = self.world.definitions(()).resolve_job_def(JOB)
        for sensor in cluster_sensors(self.world.warehouse):
            with dg.build_sensor_context(self.world.instance, self.cursors.get(sensor.name)) as context:
                result = sensor.evaluate_tick(context)
            self.cursors[sensor.name] = result.cursor
            for request in result.run_requests or ():
                assert job.execute_in_process(run_config=request.run_config, instance=self.world.instance).success
                config = request.run_config["ops"]["cluster_tables"]["config"]
                asked |= {f"{name} {key}" for name in config["entities"] for key in config["partitions"]}
        return asked

    def files(self, name: str) -> list[int]:
        """How many files hours 14 and 15 have."""
        files = DeltaTable(str(self.world.warehouse.table_path(name))).get_add_actions(flatten=True)
        hours = pa.table(files)["partition.hour"].to_pylist()
        return [hours.count(hour) for hour in ("14", "15")]

    def rows(self) -> list[list[tuple[int]]]:
        return [self.world.rows(f"foo_1h@{DAY}T{hour}") for hour in (14, 15)]


def statuses(world: RunningWarehouse) -> dict[str, SliceStatus]:
    """All that the state store says of slices: also which request for each they were computed by."""
    _, everything = world.read.everything()
    return {str(current.slice): current.status for current in everything}


@dataclass
class Counting:
    """The source's counts and the lake's, and a clock that is set by hand for who looks at them."""

    world: RunningWarehouse
    now: datetime = END
    detector: OutsideDetector = field(init=False)

    def __post_init__(self) -> None:
        center = self.world.host.center
        self.counts = RecordCounts(center.store.database)

        def run(_: Slice, work: Callable[[], None]) -> None:
            work()

        self.detector = OutsideDetector(Crawler(self._look, run), center, center.store.database, lambda: self.now)

    def report(self, side: Side, first: datetime, end: datetime, records: int = A_MINUTE) -> None:
        minutes = range(int(first.timestamp()) // 60, int(end.timestamp()) // 60)
        told = [RecordCount("foo", minute, side, f"{side} 0", records) for minute in minutes]
        self.counts.report(told, {"foo": int(END.timestamp()) // 60} if side == "source" else {})

    def go_on(self) -> None:
        for _ in range(40):
            self.now += timedelta(minutes=1)
            self.detector.poll(self.world.instance)

    def complete(self) -> set[str]:
        slices = (slice_ for name in WINDOWS for slice_ in self.world.warehouse.graph.slices(name, self.now))
        return {str(s) for s in slices if self.world.host.center.status(s).run_state is RunState.COMPLETED}

    def _look(self, slice_: Slice) -> Sight:
        assets = MaterializedAssets(self.world.instance)
        return look_once(self.world.warehouse.graph, slice_, ConnectionSecrets({}), assets, self.counts)


def test_a_slot_that_agrees_completes_the_windows_that_it_ends_and_begins_what_waits_for_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    last = END - timedelta(minutes=10)
    with running(spark, tmp_path, FILES, project=PROJECT) as world:
        land(world)
        counting, compaction = Counting(world), Compaction(world)
        assert compaction.go_on() == set()
        # 1. Records are counted part by part; of the last slot one record in ten thousand is not in the lake yet.
        counting.report("source", BEGIN - timedelta(minutes=12), END)
        counting.report("lake", BEGIN - timedelta(minutes=12), last)
        counting.report("lake", last, END, A_MINUTE - 3)
        counting.go_on()
        before = counting.complete()
        first = {text for run in world.run() for text in run}
        assert "foo_1h@2026-03-30T14" in before
        assert {f"foo_5min@{DAY}T15:50", f"foo_10min@{DAY}T15:40"} <= before
        assert {f"{name}@{DAY}T14" for name in ("features", "up_to", "clean", "report")} <= first
        assert not any(text.endswith("T15") for text in first)
        assert compaction.go_on() == {f"clean {DAY}-14:00", f"foo_1h {DAY}-14:00"}
        assert compaction.files("foo_1h") == [1, 6], "the files of hour 15 still come"
        for record in LATE:
            land_file(world, "foo_1h", 60, [record])

        # 2. At 99.995 % the windows that the slot reaches are complete, and no other.
        counting.report("lake", last, END, A_MINUTE - 1)
        counting.go_on()
        assert counting.complete() - before == {
            f"foo_1h@{DAY}T15",
            f"foo_10min@{DAY}T15:50",
            f"foo_5min@{DAY}T15:55",
            f"foo_5min@{DAY}T16:00",
        }
        # 3. What waits for just these begins: the next hour of a flow, the ten minutes, all hours so far, the rules.
        second = [text for run in world.run() for text in run]
        of_hour = {f"{name}@{DAY}T15" for name in ("features", "up_to", "clean", "report")}
        assert sorted(second) == sorted({f"recent@{DAY}T15:50", *of_hour})
        assert second.index(f"report@{DAY}T15") > second.index(f"clean@{DAY}T15")
        entries = {
            entry.entity: entry.slices
            for entry in Catalog(world.warehouse.graph, world.host.center.store.database).entries()
        }
        assert (entries["foo_1h"].completed, entries["clean"].completed, entries["clean"].invalid) == (2, 2, 0)
        # And, asked for by the sensor that watches the hours, a compaction: of hour 15, and of 14 for its late files.
        the_hours_are_compacted_and_nobody_computes_anything_for_it(counting, compaction)

        # 4. Everything holds what it has to, at once and once.
        right = expected()
        assert {text: sum(row[-1] for row in world.rows(text)) for text in right} == right
        assert len(first) + len(second) == len({*first, *second})


def the_hours_are_compacted_and_nobody_computes_anything_for_it(counting: Counting, compaction: Compaction) -> None:
    """A look at storage finds every table as it was written, though its files are others."""
    world, before = counting.world, statuses(counting.world)
    storage = StorageDetector(world.warehouse, world.host.center, world.host.center.store)
    storage.poll()
    assert (compaction.files("foo_1h"), compaction.files("clean")[1]) == ([10, 6], 10)
    assert compaction.go_on() == {f"clean {DAY}-15:00", f"foo_1h {DAY}-15:00"}
    assert (compaction.files("foo_1h"), compaction.files("clean")) == ([1, 1], [1, 1])
    by_hour = [[(v,) for v, at in (*ROWS, *LATE) if at.hour == hour] for hour in (14, 15)]
    assert compaction.rows() == list(map(sorted, by_hour))
    assert compaction.go_on() == set()
    report = storage.poll(verify=True)
    assert (report.changed > 0, report.absent, report.foreign, report.troubles) == (True, 0, 0, ())
    counting.go_on()
    assert world.run() == []
    assert statuses(world) == before

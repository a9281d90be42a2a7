"""The first story of seed 002, step by step, on Delta tables in a running Dagster, to content that an oracle has.

Parts of `foo` are counted at the source and in the lake in slots of ten minutes that begin at eight. Once the slot
[15:58, 16:08) agrees, hour 15 and the windows at its end are complete, and with them begins what waits for just these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.catalog.catalog import Catalog
from tidemark.center.detectors.observed_in_dagster import MaterializedAssets
from tidemark.center.detectors.outside import OutsideDetector
from tidemark.center.outside_world import look_once
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.crawler import Crawler
from tidemark.dependency_model.status import RunState
from tidemark.state_store.record_counts import RecordCount, RecordCounts, Side

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.slice import Slice

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

DAY = "2026-03-30"
PROJECT = f"time_zone: UTC\nstart: {DAY}T14\nend: {DAY}T16\n"
COUNTED = "probe: {counts: {of: foo, slot_minutes: 10, phase: 8}}\n"
WINDOWS = {"foo_5min": 5, "foo_10min": 10, "foo_1h": 60}
FILES = {
    "foo_5min.yaml": f"kind: Virtual\nperiod: 5min\nseries: foo\nend: {DAY}T17\n{COUNTED}",
    "foo_10min.yaml": f"kind: Virtual\nperiod: 10min\nseries: foo\n{COUNTED}",
    "foo_1h.yaml": f"kind: Virtual\nperiod: hour\nseries: foo\n{COUNTED}",
    "features.yaml": "period: hour\ndepends_on: [foo_1h, {entity: features, offset: Set -1}]\n",
    "features.sql": "SELECT max(v) AS v FROM foo_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
    "recent.yaml": f"period: 10min\nstart: {DAY}T15\n",
    "recent.sql": (
        "SELECT sum(v) AS v FROM foo_10min WHERE dt = :biz_date AND hour = :biz_hour AND minute = :biz_minute\n"
    ),
    "up_to.yaml": "kind: Cumulative\nperiod: hour\ngranularity: day\n",
    "up_to.sql": "SELECT sum(v) AS v FROM foo_1h WHERE dt = :biz_date AND hour <= :biz_hour\n",
    "clean.yaml": "period: hour\nquality: [{not_null: [v]}, {row_count: {min: 1}}]\n",
    "clean.sql": "SELECT v FROM foo_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
    "report.yaml": "period: hour\n",
    "report.sql": "SELECT count(*) AS v FROM clean WHERE dt = :biz_date AND hour = :biz_hour\n",
}
BEGIN, END = datetime(2026, 3, 30, 14, tzinfo=UTC), datetime(2026, 3, 30, 16, 8, tzinfo=UTC)
A_MINUTE = 30_000
ROWS = [(7 * minute + 1, BEGIN + timedelta(minutes=minute)) for minute in range(120)]
"""A figure and its time, one a minute."""
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
    """The rows of each kind of window: what is there before anybody knows that it is all."""
    for name, minutes in WINDOWS.items():
        rows = []
        for v, at in ROWS:
            minute = {} if minutes == 60 else {"minute": f"{at.minute // minutes * minutes:02}"}
            rows.append({"v": v, "dt": at.date(), "hour": f"{at.hour:02}", **minute})
        keys = [key for key in rows[0] if key != "v"]
        write_deltalake(str(world.warehouse.table_path(name)), pa.Table.from_pylist(rows), partition_by=keys)


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
        counting = Counting(world)
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

        # 4. Everything holds what it has to, at once and once.
        right = expected()
        assert {text: sum(row[-1] for row in world.rows(text)) for text in right} == right
        assert len(first) + len(second) == len({*first, *second})

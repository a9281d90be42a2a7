"""The second story of seed 002, step by step, on Delta tables in a running Dagster, to content that an oracle has.

Of hour 15 of `foo` ten minutes were delivered three times. Its profile is not as the days before let expect, a deeper
rule finds rows twice, and the hour is invalid: so are the windows inside it and the day around it. Who ignores quality
goes on, others are held. Once the delivery is right and the hour is rebuilt the flags go, and each policy decides.

It is told of three hours with all who read them, and of hour 15 alone with the fewest who show each step.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg
import duckdb
import pyarrow as pa
import pytest
from dagster._core.event_api import PartitionKeyFilter
from deltalake import write_deltalake

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.catalog.catalog import Catalog
from tidemark.center.backfill_planning import plan_of
from tidemark.center.fact import Fact
from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.dependency_model.backfill import BackfillPhase
from tidemark.dependency_model.profile.figures import SliceFigures
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.flaws import VALIDITY_CHECK
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.state_store.slice_profiles import SliceProfiles, StoredProfile
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = "2026-03-30"
SUM = "SELECT sum(v) AS v FROM foo_10min WHERE dt = :biz_date AND hour = :biz_hour\n"
PLAIN = "profile: off\n"
POLICIES = ("always", "if_changed", "never", "ask")
FILES = {
    "foo_5min.yaml": "kind: Virtual\nperiod: 5min\nseries: foo\n",
    "foo_10min.yaml": "kind: Virtual\nperiod: 10min\nseries: foo\n",
    "foo_1h.yaml": "period: hour\nseries: foo\nreprocess: ask\nquality_on_anomaly: [{unique: [id]}]\n"
    "depends_on: [foo_10min, closed]\n",
    "closed.yaml": "kind: Virtual\nperiod: hour\n",
    "foo_1h.sql": SUM.replace("sum(v) AS v", "id, v"),
    "foo_1d.yaml": f"period: day\nseries: foo\nstart: {DAY}\nend: 2026-03-31\n{PLAIN}",
    "foo_1d.sql": "SELECT sum(v) AS v FROM foo_1h WHERE dt = :biz_date\n",
    "gate.yaml": "kind: Virtual\nperiod: hour\n",
    "intraday.yaml": f"kind: Cumulative\nperiod: hour\ngranularity: day\n{PLAIN}",
    "intraday.sql": "SELECT sum(v) AS v FROM foo_1h WHERE dt = :biz_date AND hour <= :biz_hour\n",
    "loose.yaml": f"period: hour\ndepends_on: [{{entity: foo_10min, quality: ignore}}, gate]\n{PLAIN}",
    "loose.sql": SUM,
    "strict.yaml": f"period: hour\ndepends_on: [foo_10min, gate]\n{PLAIN}",
    "strict.sql": SUM,
    "tens.yaml": f"period: 10min\nreprocess: if_changed\n{PLAIN}",
    "tens.sql": f"{SUM.strip()} AND minute = :biz_minute\n",
    **{f"{name}.yaml": f"period: hour\nreprocess: {name}\n{PLAIN}" for name in POLICIES},
    **{f"{name}.sql": SUM for name in POLICIES},
}
HOUR = Slice("foo_1h", f"{DAY}T15")
DAILY = Slice("foo_1d", DAY)
FIVES = [Slice("foo_5min", f"{DAY}T15:{minute:02}") for minute in range(0, 60, 5)]
TENS = [Slice("foo_10min", f"{DAY}T15:{minute:02}") for minute in range(0, 60, 10)]
BAD = TENS[2]
ASKED = Slice("ask", HOUR.key)
BEGIN = datetime(2026, 3, 30, 14, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [{"id": n, "v": 7 * n + 1, "seen": BEGIN + timedelta(seconds=6 * n)} for n in range(1_800)]
"""What happened: ten a minute. Of far fewer a third more is no anomaly: chance alone would bring it now and then."""
ORACLE = """
WITH foo AS (SELECT v, date_trunc('hour', seen) AS hour, time_bucket(INTERVAL 10 MINUTES, seen) AS ten FROM happened),
     foo_at_first AS (SELECT v, date_trunc('hour', seen) AS hour FROM delivered)
SELECT 'foo_1h', strftime(hour, '%Y-%m-%dT%H'), sum(v) FROM foo GROUP BY ALL
UNION ALL SELECT 'foo_1d', strftime(hour, '%Y-%m-%d'), sum(v) FROM foo GROUP BY ALL
UNION ALL SELECT 'intraday', strftime(hour, '%Y-%m-%dT%H'), sum(sum(v)) OVER (ORDER BY hour) FROM foo GROUP BY hour
UNION ALL SELECT 'tens', strftime(ten, '%Y-%m-%dT%H:%M'), sum(v) FROM foo GROUP BY ALL
UNION ALL SELECT name, strftime(hour, '%Y-%m-%dT%H'), sum(v)
    FROM foo, (VALUES ('always'), ('if_changed'), ('ask')) AS users(name) GROUP BY ALL
UNION ALL SELECT name, strftime(hour, '%Y-%m-%dT%H'), sum(v)
    FROM foo, (VALUES ('loose'), ('strict')) AS users(name) WHERE hour(hour) = 15 GROUP BY ALL
UNION ALL SELECT 'never', strftime(hour, '%Y-%m-%dT%H'), sum(v) FROM foo_at_first GROUP BY ALL
"""


def windows(rows: Iterable[dict[str, Any]], minutes: int) -> pa.Table:
    """Rows with the partition columns of windows of so many minutes."""
    return pa.Table.from_pylist(
        [
            {
                "id": row["id"],
                "v": row["v"],
                "dt": row["seen"].date(),
                "hour": f"{row['seen'].hour:02}",
                "minute": f"{row['seen'].minute // minutes * minutes:02}",
            }
            for row in rows
        ]
    )


def is_bad(row: dict[str, Any]) -> bool:
    at: datetime = row["seen"]
    return at.hour == 15 and at.minute // 10 == 2


@dataclass
class Story:
    """The story in one world: of `hours` of the day, and told of those entities alone that the world has."""

    world: RunningWarehouse
    hours: tuple[int, ...]

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        return [row for row in ROWS if row["seen"].hour in self.hours]

    @property
    def delivered(self) -> list[dict[str, Any]]:
        return self.rows + [row for row in self.rows if is_bad(row)] * 2

    @property
    def policies(self) -> list[str]:
        return [name for name in POLICIES if name in self.world.warehouse.entities]

    @property
    def held(self) -> list[Slice]:
        """Sums of the day so far."""
        return [Slice("intraday", f"{DAY}T{hour}") for hour in self.hours if hour >= 15]

    def tell(self) -> None:
        """All of it, in order."""
        self.days_before()
        self.deliver()
        self.world.run()
        self.world.host.take_in()
        self.the_profile_finds_an_anomaly_and_the_deeper_rule_its_cause()
        self.the_flag_goes_over_the_time_hierarchy_both_ways()
        self.who_ignores_quality_goes_on_and_others_are_held()
        self.nobody_begins_before_a_person_rebuilds_the_hour()
        self.a_backfill_lifts_the_flags_level_by_level()
        self.each_policy_has_decided()
        self.everything_holds_what_it_has_to()

    def the_profile_finds_an_anomaly_and_the_deeper_rule_its_cause(self) -> None:
        anomaly, *tried_before = self.results(HOUR, CHECK_NAME)
        assert not any(result.passed for result in tried_before)
        assert (anomaly.passed, anomaly.severity) == (False, dg.AssetCheckSeverity.ERROR)
        assert str(anomaly.description).startswith("rows: 800, expected about 60")
        assert "deeper rules: unique: " in str(anomaly.description)
        for hour in {*self.hours} - {15}:
            (usual,) = self.results(Slice("foo_1h", f"{DAY}T{hour}"), CHECK_NAME)
            assert usual.passed
        status = self.world.host.center.status(HOUR)
        assert (status.run_state, status.valid, status.issues) == (RunState.FAILED, False, frozenset({HOUR}))

    def the_flag_goes_over_the_time_hierarchy_both_ways(self) -> None:
        """Who read the windows before that was known is tainted."""
        assert self.flagged() == {HOUR, *FIVES, *TENS, DAILY}
        assert set(self.fates().values()) == {(1, True)}
        assert self.shown((HOUR, *TENS, *FIVES, DAILY, *self.held)) == {False}
        cause = self.results(TENS[0], VALIDITY_CHECK)[0].metadata
        assert cause["invalid_slices"].value == str(HOUR)
        assert "unique: " in str(cause["broken_rules"].value)
        catalog = Catalog(self.world.warehouse.graph, self.world.host.center.store.database)
        invalid = {entry.entity: entry.slices.invalid for entry in catalog.entries()}
        assert (invalid["foo_10min"], invalid["foo_5min"]) == (6, 12)

    def who_ignores_quality_goes_on_and_others_are_held(self) -> None:
        self.world.report(f"gate@{HOUR.key}")
        assert self.world.run() == [(f"loose@{HOUR.key}",)]
        clauses = self.world.host.center.explain(self.held[0]).clauses
        assert {explained.slice for clause in clauses for explained in clause.missing} == {HOUR}
        assert self.results(self.held[0], VALIDITY_CHECK)[0].description == f"it waits for {HOUR}: its rules are broken"
        assert self.total(f"loose@{HOUR.key}") == self.expected()[f"never@{HOUR.key}"]

    def nobody_begins_before_a_person_rebuilds_the_hour(self) -> None:
        """Though the delivery is put right: but for who takes it as it is."""
        self.deliver_again()
        assert self.world.run() == [(f"loose@{HOUR.key}",)]
        assert self.flagged() == {HOUR, *FIVES, *TENS, DAILY}

    def a_backfill_lifts_the_flags_level_by_level(self) -> None:
        """Profile and rules again, then the windows are cleared, then the day may be computed."""
        store = self.world.host.center.store
        seen, backfills = store.read.last(), Backfills(store.database)
        plan = plan_of(self.world.warehouse.graph, store, [HOUR], datetime.now(UTC))
        number = backfills.add(
            plan, BackfillRequest("ann", "ten minutes came thrice", "hour 15"), BackfillPhase.RUNNING
        )
        self.world.run()
        assert backfills.row(number).phase is BackfillPhase.DONE
        assert self.results(HOUR, CHECK_NAME)[0].passed
        assert self.flagged() == set()
        order = [
            (HOUR, Event.BACKFILLED),
            (HOUR, Event.QUALITY_PASSED),
            (TENS[0], Event.CLEARED),
            (DAILY, Event.COMPLETED),
        ]
        happened = [(step.slice, step.event) for step in store.read.after(seen)]
        assert [step for step in happened if step in order] == order

    def each_policy_has_decided(self) -> None:
        """Who is asked decides then."""
        decided = {"always": (2, False), "if_changed": (2, False), "never": (1, False), "ask": (1, True)}
        assert self.fates() == {name: decided[name] for name in self.policies}
        center = self.world.host.center
        if "tens" in self.world.warehouse.entities:
            tens = [Slice("tens", f"{DAY}T15:{minute}") for minute in (10, 20, 30)]
            generations = [center.status(slice_).generation for slice_ in tens]
            assert generations == [1, 2, 1], "where only the flag was lifted nothing is computed again"
        decision = Fact("ann decides", ASKED, Event.BACKFILL_REQUESTED, datetime.now(UTC), "ann")
        center.report([decision], strict=True)
        self.world.run()
        self.world.host.take_in()

    def everything_holds_what_it_has_to(self) -> None:
        right = self.expected()
        assert {text: self.total(text) for text in right} == right
        assert self.shown((HOUR, *TENS, *FIVES, DAILY, *self.held, ASKED)) == {True}
        assert not any(self.world.host.center.status(Slice.parse(text)).is_flawed for text in right)

    def expected(self) -> dict[str, int]:
        """What a slice has to hold in the end, recomputed from scratch; `never` keeps what was delivered at first."""
        with duckdb.connect() as connection:
            for name, rows in (("happened", self.rows), ("delivered", self.delivered)):
                connection.register(
                    name, pa.Table.from_pylist([{**row, "seen": row["seen"].replace(tzinfo=None)} for row in rows])
                )
            figures = connection.execute(ORACLE).fetchall()
        return {f"{name}@{key}": int(v) for name, key, v in figures if name in self.world.warehouse.entities}

    def days_before(self) -> None:
        """What sixty days have left: profiles of these hours, with ten rows a minute, more or less."""
        past = [
            StoredProfile(
                Slice("foo_1h", f"{date.fromisoformat(DAY) - timedelta(days=ago)}T{hour}"),
                BEGIN,
                1,
                SliceFigures(600 + ago % 3),
                History.NONE,
            )
            for ago in range(1, 61)
            for hour in self.hours
        ]
        profiles = SliceProfiles(self.world.host.center.store.database)
        profiles.put([(stored, SliceProfile(stored.figures.rows)) for stored in past])

    def deliver(self) -> None:
        for name, minutes in (("foo_5min", 5), ("foo_10min", 10)):
            path = str(self.world.warehouse.table_path(name))
            write_deltalake(path, windows(self.delivered, minutes), partition_by=["dt", "hour", "minute"])
            for hour in self.hours:
                for minute in range(0, 60, minutes):
                    self.world.report(f"{name}@{DAY}T{hour}:{minute:02}")
        self.world.run()
        for hour in self.hours:  # who reads the windows has done so by now
            self.world.report(f"closed@{DAY}T{hour}")

    def deliver_again(self) -> None:
        """The ten minutes once, as they happened."""
        condition = f"dt = '{DAY}' AND hour = '15' AND minute = '20'"
        path = str(self.world.warehouse.table_path("foo_10min"))
        write_deltalake(path, windows(filter(is_bad, ROWS), 10), mode="overwrite", predicate=condition)
        self.world.report(str(BAD))

    def results(self, slice_: Slice, check: str) -> list[dg.AssetCheckEvaluation]:
        """What Dagster shows of a slice's partition, the newest first."""
        records = self.world.instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey([slice_.entity]), check),
            limit=9,
            partition_filter=PartitionKeyFilter(
                key=str(partition_of(self.world.warehouse.entities[slice_.entity], slice_))
            ),
        )
        events = [record.event.dagster_event for record in records if record.event]
        return [event.asset_check_evaluation_data for event in events if event]

    def shown(self, slices: Iterable[Slice]) -> set[bool]:
        """What the check of validity says of each of them now, where its page of partitions counts what was said."""
        slices = list(slices)
        assert all(self.is_counted(slice_) for slice_ in slices)
        return {self.results(slice_, VALIDITY_CHECK)[0].passed for slice_ in slices}

    def is_counted(self, slice_: Slice) -> bool:
        """Whether Dagster takes the newest result for one of what the partition holds, and not for a missing one."""
        check = dg.AssetCheckKey(dg.AssetKey([slice_.entity]), VALIDITY_CHECK)
        partition = str(partition_of(self.world.warehouse.entities[slice_.entity], slice_))
        storage = self.world.instance.event_log_storage
        (info,) = storage.get_asset_check_partition_info([check], partition_keys=[partition])
        return info.is_current

    def flagged(self) -> set[Slice]:
        """Whom the hour's flag reaches."""
        _, everything = self.world.read.everything()
        return {current.slice for current in everything if HOUR in current.status.issues}

    def total(self, text: str) -> int:
        """The sum of a slice's figures."""
        return sum(int(row[-1]) for row in self.world.rows(text))

    def fates(self) -> dict[str, tuple[int, bool]]:
        """Of those with a policy: the generation of hour 15, and whether it is tainted."""
        statuses = {name: self.world.host.center.status(Slice(name, HOUR.key)) for name in self.policies}
        return {name: (status.generation, status.tainted) for name, status in statuses.items()}


@pytest.mark.parametrize(
    ("hours", "without"),
    [
        pytest.param((14, 15, 16), (), id="three hours", marks=pytest.mark.long),
        pytest.param((15,), ("always", "strict", "tens"), id="one hour"),
    ],
)
def test_an_invalid_hour_is_found_flagged_everywhere_held_rebuilt_and_cleared(
    spark: SparkSession, tmp_path: Path, hours: tuple[int, ...], without: tuple[str, ...]
) -> None:
    files = {name: text for name, text in FILES.items() if name.partition(".")[0] not in without}
    project = f"time_zone: UTC\nstart: {DAY}T{hours[0]}\nend: {DAY}T{hours[-1] + 1}\n"
    with running(spark, tmp_path, files, project=project) as world:
        Story(world, hours).tell()

"""From a folder that another program writes to a released slice: shown in Dagster, once, and never of another day."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.center.test_center import CenterWorld
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.late_counts import LateCountsDetector
from tidemark.center.detectors.observed_in_dagster import MaterializedAssets
from tidemark.center.detectors.outside import OutsideDetector
from tidemark.center.outside_world import look_once
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.crawler import Crawler
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState
from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.state_store.probe_errors import probe_errors
from tidemark.state_store.probe_looks import ProbeLook, probe_looks, probe_requests
from tidemark.state_store.record_counts import RecordCount, RecordCounts, Side
from tidemark.state_store.rule_results import RuleResults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidemark.dependency_model.arrival.sighting import Sight

ASSET = dg.AssetKey(["clicks"])
SIDES: tuple[Side, ...] = ("source", "lake")


class OutsideWorld(CenterWorld):
    """Declarations, a Dagster storage, and the detector that a process has just opened; looks come back at once."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, **texts: str) -> None:
        super().__init__(folder, **texts)
        self.instance, self.env = instance, {"PARTNER": "canary-secret"}
        self.detector = self.open_detector()

    def open_detector(self) -> OutsideDetector:

        def run(_: Slice, work: Callable[[], None]) -> None:
            work()

        crawler = Crawler(self.look, run)
        return OutsideDetector(crawler, self.center, self.store.database, lambda: self.now)

    def look(self, slice_: Slice) -> Sight:
        assets, counts = MaterializedAssets(self.instance), RecordCounts(self.store.database)
        return look_once(self.graph, slice_, ConnectionSecrets(self.env), assets, counts)

    def go_on(self, minutes: int) -> None:
        for _ in range(minutes):
            self.now += timedelta(minutes=1)
            self.center.tick()
            self.detector.poll(self.instance)

    def status(self, text: str) -> tuple[RunState, Quality]:
        status = self.center.status(Slice.parse(text))
        return status.run_state, status.quality


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def declared(folder: Path, more: str = "") -> dict[str, str]:
    probe = f"{{files: {{path: '{folder}/${{PARTNER}}/{{start:%Y-%m-%d}}'}}, settle_for: 2m}}"
    return {
        "clicks": f"kind: Virtual\nperiod: day\nstart: 2024-05-30\nprobe: {probe}\n{more}",
        "report": "{period: day, depends_on: [clicks]}",
    }


def deliver(folder: Path, day: str, rows: int = 3) -> None:
    """What another program does."""
    import duckdb

    path = folder / "canary-secret" / day
    path.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as database:
        database.execute(f"COPY (SELECT i FROM range({rows}) AS r(i)) TO '{path}/part.parquet' (FORMAT parquet)")  # noqa: S608


def test_a_delivered_day_releases_its_slice_and_no_other(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path))
    world.go_on(3)
    assert world.ready() == []
    deliver(tmp_path, "2024-06-01")
    world.go_on(2_000)
    assert world.ready() == ["report@2024-06-01"]
    assert instance.get_materialized_partitions(ASSET) == {"2024-06-01"}
    observed = instance.fetch_observations(ASSET, limit=10).records
    assert [record.partition_key for record in observed] == ["2024-06-01"]
    history = world.store.read.history(Slice("clicks", "2024-06-01"))
    (told,) = [transition for transition in history if transition.event.value == "observed"]
    assert (told.facts.row_count, told.who) == (3, "probe, late")


def test_hours_that_are_long_over_are_looked_for_as_the_newest_of_an_entity_that_has_ended(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """A recording of March is replayed in November: its hours are more than the newest thousand ago."""
    texts = declared(tmp_path)
    texts["clicks"] = texts["clicks"].replace("period: day\nstart: 2024-05-30", "period: hour\nstart: 2024-01-01")
    texts["clicks"] = texts["clicks"].replace("%Y-%m-%d", "%Y-%m-%dT%H") + "end: 2024-01-02\n"
    world = OutsideWorld(tmp_path, instance, clicks=texts["clicks"], report="{period: hour, depends_on: [clicks]}")
    deliver(tmp_path, "2024-01-01T03")
    world.go_on(10)
    assert world.status("clicks@2024-01-01T03")[0] is RunState.COMPLETED
    assert len(world.detector.crawler) == 23


def test_dagsters_own_log_does_not_tell_it_again(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path))
    deliver(tmp_path, "2024-06-01")
    world.go_on(10)
    last = world.store.read.last()
    detector = EventLogDetector(instance, world.center, world.store.read)
    assert (detector.poll(), detector.inspect_wiped()) == (0, 0)
    assert world.store.read.last() == last


def test_a_broken_rule_holds_it_back_until_the_rule_holds(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path, "quality: [{row_count: {min: 5}}]"))
    deliver(tmp_path, "2024-06-01", rows=3)
    world.go_on(60)
    assert world.status("clicks@2024-06-01") == (RunState.COMPLETED, Quality.FAILED)
    assert world.ready() == []
    deliver(tmp_path, "2024-06-01", rows=7)
    world.go_on(200)
    assert world.status("clicks@2024-06-01") == (RunState.COMPLETED, Quality.PASSED)
    assert world.ready() == ["report@2024-06-01"]
    world.detector = world.open_detector()
    world.go_on(60)
    assert world.events("clicks@2024-06-01") == "observed quality_failed backfill_requested observed quality_passed"
    told = [(result.outcome, result.rows) for result in RuleResults(world.store.database).newest("clicks")]
    assert told == [("passed", 7), ("broken", 3)]


@pytest.mark.parametrize("recheck_for", ["0s", "9d"])
def test_rows_that_replace_broken_ones_are_those_that_readers_get(
    tmp_path: Path, instance: dg.DagsterInstance, recheck_for: str
) -> None:
    feed = delta_feed(tmp_path, f"recheck_for: {recheck_for}", "quality: [{row_count: {min: 5}}]")
    world = OutsideWorld(tmp_path, instance, feed=feed, report=REPORT)
    overwrite(tmp_path, 3)
    world.go_on(5)
    assert (world.status(FEED), world.ready()) == ((RunState.COMPLETED, Quality.FAILED), [])
    overwrite(tmp_path, 7)
    world.go_on(5)
    assert world.ready() == ["report@2024-06-01"]
    assert world.store.read.versions([Slice.parse(FEED)]) == {Slice.parse(FEED): "1"}


def test_data_that_is_removed_is_absent_and_comes_back_as_a_new_generation(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    texts = {"feed": delta_feed(tmp_path, "recheck_for: 9d"), "report": REPORT}
    world = OutsideWorld(tmp_path, instance, **texts)
    overwrite(tmp_path, 3)
    world.go_on(5)
    assert world.ready() == ["report@2024-06-01"]
    DeltaTable(str(tmp_path / "feed")).delete()
    for _ in range(2):
        world.go_on(5)
        assert (world.status(FEED)[0], world.ready()) == (RunState.ABSENT, [])
        world.detector = world.open_detector()
    overwrite(tmp_path, 3)
    world.go_on(5)
    assert world.ready() == ["report@2024-06-01"]
    assert world.events(FEED).split()[-4:] == ["deleted", "backfill_requested", "observed", "quality_passed"]
    assert world.center.status(Slice.parse(FEED)).generation == 2


def test_a_person_may_take_a_slice_for_complete_that_no_probe_finds(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, "recheck_for: 9d"))
    overwrite(tmp_path, 3, "2024-05-30")
    world.tell(FEED, "observed")
    world.go_on(20)
    assert world.status(FEED)[0] is RunState.COMPLETED


@pytest.mark.parametrize("wrong", ["lost", "deleted", "started", "observed"])
def test_what_a_probe_sees_is_newer_than_reports_before_it(
    tmp_path: Path, instance: dg.DagsterInstance, wrong: str
) -> None:
    """The data was first seen before the wrong report, and was changed after it."""
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, "recheck_for: 9d"), report=REPORT)
    overwrite(tmp_path, 3)
    world.go_on(5)
    world.tell(FEED, wrong, run="airflow-1", event_time=world.now, replaces=wrong == "observed")
    overwrite(tmp_path, 7)
    world.go_on(15)
    assert world.status(FEED) == (RunState.COMPLETED, Quality.PASSED)
    assert world.store.read.versions([Slice.parse(FEED)]) == {Slice.parse(FEED): "1"}


def test_a_report_without_a_version_is_not_read_at_the_version_of_an_earlier_look(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, ""))
    overwrite(tmp_path, 3)
    world.go_on(5)
    assert world.store.read.versions([Slice.parse(FEED)]) == {Slice.parse(FEED): "0"}
    overwrite(tmp_path, 7)
    world.tell(FEED, "observed", "corrected", event_time=world.now, replaces=True)
    assert world.store.read.versions([Slice.parse(FEED)]) == {}


def test_a_wrong_deletion_of_data_that_stays_is_corrected(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, "recheck_for: 9d"))
    overwrite(tmp_path, 3)
    world.go_on(5)
    world.tell(FEED, "deleted", event_time=world.now)
    world.go_on(5)
    assert world.status(FEED) == (RunState.COMPLETED, Quality.PASSED)


@pytest.mark.parametrize("more", ["", "recheck_for: 9d"])
def test_data_that_was_reported_as_overwritten_is_read_again(
    tmp_path: Path, instance: dg.DagsterInstance, more: str
) -> None:
    """Without rules and without `recheck_for`, nobody would look at it again, and its readers would wait for ever."""
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, more), report=REPORT)
    overwrite(tmp_path, 3)
    world.go_on(5)
    world.tell(FEED, "overwritten", event_time=world.now)
    assert world.status(FEED) == (RunState.COMPLETED, Quality.UNKNOWN)
    world.go_on(15)
    assert world.status(FEED) == (RunState.COMPLETED, Quality.PASSED)
    status = world.center.status(Slice.parse(FEED))
    assert (status.generation, FOREIGN in status.states) == (2, False)
    world.go_on(15)
    assert world.center.status(Slice.parse(FEED)).generation == 2


def test_the_last_error_of_a_probe_is_noted_until_it_works(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, ""))
    (tmp_path / "feed" / "_delta_log").mkdir(parents=True)
    (tmp_path / "feed" / "_delta_log" / f"{0:020}.json").write_text("{")
    world.go_on(3)
    ((slice_, error),) = probe_errors(world.store.database).all().items()
    assert (slice_, bool(error)) == (FEED, True)
    shutil.rmtree(tmp_path / "feed")
    world.detector = world.open_detector()
    world.go_on(3)
    assert probe_errors(world.store.database).all() == {}


def test_looks_are_noted_and_one_look_is_enough_for_a_person(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, feed=delta_feed(tmp_path, "").replace("settle_for: 1m", "settle_for: 9h"))
    world.go_on(3)
    looks, requests = probe_looks(world.store.database), probe_requests(world.store.database)
    look = ProbeLook.of_json(looks.all()[FEED])
    assert look.why
    assert look.at <= world.now < look.next
    overwrite(tmp_path, 3)
    world.go_on(15)
    assert world.status(FEED)[0] is RunState.WAITING, "it has not been the same for nine hours"
    requests.put({FEED: "ann", "gone@2024-06-01": "ann"})
    world.go_on(1)
    assert (world.status(FEED)[0], requests.all(), looks.all()) == (RunState.COMPLETED, {}, {})


FEED = "feed@2024-06-01"
REPORT = "{period: day, end: 2024-06-02, depends_on: [feed]}"


def delta_feed(folder: Path, probe: str, more: str = "") -> str:
    delta = (
        f"{{delta: {{table: '{folder}/feed', partition: {{dt: '{{key}}'}}}}, settle_for: 1m, late_every: 1m, {probe}}}"
    )
    return f"kind: Virtual\nperiod: day\nstart: 2024-06-01\nend: 2024-06-02\nprobe: {delta}\n{more}"


def overwrite(folder: Path, rows: int, day: str = "2024-06-01") -> None:
    table = pa.table({"dt": [day] * rows, "id": list(range(rows))})
    write_deltalake(str(folder / "feed"), table, mode="overwrite", partition_by=["dt"])


def test_another_process_goes_on_and_knows_what_was_learned(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path))
    for day in range(4, 12):
        world.now = datetime(2024, 6, day, tzinfo=UTC) - timedelta(hours=2, minutes=5)  # Paris is two hours ahead
        world.go_on(60)
        deliver(tmp_path, f"2024-06-{day - 1:02}")
        world.go_on(60)
        assert f"report@2024-06-{day - 1:02}" in world.ready()
    world.detector = world.open_detector()
    world.now = datetime(2024, 6, 12, tzinfo=UTC) - timedelta(hours=2)
    world.detector.poll(instance)
    (watched,) = [known for known in world.detector.crawler.watched() if known.slice.key == "2024-06-11"]
    assert timedelta(minutes=20) < watched.due - world.now < timedelta(minutes=70)


def test_an_asset_of_another_code_location_releases_the_hours_of_its_day(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    probe = "{dagster: {asset: team/clicks, partition: '{start:%Y-%m-%d}'}, settle_for: 0m}"
    text = f"kind: Virtual\nperiod: hour\nstart: 2024-06-01\nend: 2024-06-03\nprobe: {probe}"
    world = OutsideWorld(
        tmp_path,
        instance,
        clicks=text,
        report="{period: hour, start: 2024-06-01, end: 2024-06-03, depends_on: [clicks]}",
    )
    event = dg.AssetMaterialization(["team", "clicks"], partition="2024-06-02", metadata={"dagster/row_count": 9})
    instance.report_runless_asset_event(event)
    world.go_on(5)
    assert world.ready() == [f"report@2024-06-02T{hour:02}" for hour in range(24)]


def test_a_slice_that_somebody_else_reports_is_not_looked_at_any_more(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path))
    world.go_on(2)
    slice_ = Slice("clicks", "2024-06-01")
    assert slice_ in world.detector.crawler
    world.tell(str(slice_), "observed")
    world.go_on(12)
    assert slice_ not in world.detector.crawler


def test_no_secret_is_stored_or_shown(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """The canary is a part of the path: no event, metadata, transition or error holds it."""
    world = OutsideWorld(tmp_path, instance, **declared(tmp_path))
    deliver(tmp_path, "2024-06-01")
    (tmp_path / "canary-secret" / "2024-06-02").mkdir()
    (tmp_path / "canary-secret" / "2024-06-02" / "part.parquet").write_bytes(b"half")
    world.go_on(30)
    errors = [known.error for known in world.detector.crawler.watched() if known.error]
    assert errors
    records = [
        *instance.fetch_observations(ASSET, limit=10).records,
        *instance.fetch_materializations(ASSET, limit=10).records,
    ]
    told = [*errors, *map(repr, records), *map(repr, world.store.read.after(0))]
    assert len(records) == 2
    assert not any("canary" in text for text in told)


def test_late_counts_ask_for_a_complete_hour_again(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    texts = {
        name: f"kind: Virtual\nperiod: hour\nstart: 2024-06-02T22\nend: 2024-06-03\n"
        f"probe: {{counts: {{of: foo, late: {late}}}, settle_for: 1m}}"
        for name, late in (("clicks", "restate"), ("kept", "keep"))
    }
    world = OutsideWorld(
        tmp_path, instance, **texts, report="{period: hour, start: 2024-06-02T22, depends_on: [clicks]}"
    )
    counts, minute = RecordCounts(world.store.database), int(datetime(2024, 6, 2, 20, 7, tzinfo=UTC).timestamp()) // 60
    late = LateCountsDetector(counts, world.center, world.store.read, world.look)
    counts.report([RecordCount("foo", minute, side, "0", 100) for side in SIDES], {"foo": minute + 600})
    assert late.poll() == 0
    world.go_on(10)
    assert "report@2024-06-02T22" in world.ready()
    counts.report([RecordCount("foo", minute + 1, "source", "1", 1)], {})
    assert late.poll() == 1
    assert late.poll() == 0
    assert world.status("clicks@2024-06-02T22")[0] is RunState.WAITING
    assert world.status("clicks@2024-06-02T23")[0] is RunState.COMPLETED
    assert world.status("kept@2024-06-02T22")[0] is RunState.COMPLETED
    assert "report@2024-06-02T22" not in world.ready()
    counts.report([RecordCount("foo", minute + 1, "lake", "1", 1)], {})
    world.go_on(30)
    assert world.status("clicks@2024-06-02T22")[0] is RunState.COMPLETED
    assert "report@2024-06-02T22" in world.ready()
    assert world.center.status(Slice("clicks", "2024-06-02T22")).generation == 2

"""What Dagster's event log tells the center, when it tells it late, and of whom it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.center.test_center import CHAIN, CenterWorld
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


def arrive(instance: dg.DagsterInstance, day: str) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization("ods", partition=day))


def hide(instance: dg.DagsterInstance, day: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log without the record of a day, as before its writer's commit."""
    get = instance.event_log_storage.get_event_records

    def visible(*arguments: Any, **named: Any) -> list[dg.EventLogRecord]:
        return [record for record in get(*arguments, **named) if record.partition_key != day]

    monkeypatch.setattr(instance.event_log_storage, "get_event_records", visible)


def test_an_event_that_becomes_visible_after_a_later_one_is_taken_in(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    detector = EventLogDetector(instance, world.center, world.store.read)
    for day in ("2024-06-01", "2024-06-02"):
        arrive(instance, day)
    with monkeypatch.context() as patch:
        hide(instance, "2024-06-01", patch)
        detector.poll()
        assert world.ready() == ["dwd@2024-06-02"]
        again = EventLogDetector(instance, world.open_center(), world.store.read)
    detector.poll(reconcile=False)
    assert world.ready() == ["dwd@2024-06-02"]
    detector.poll()
    assert world.ready() == ["dwd@2024-06-02", "dwd@2024-06-01"]
    last = world.store.read.last()
    assert again.poll() == 0, "what is known is read again after a restart, and changes nothing"
    assert world.store.read.last() == last


def test_of_two_runs_under_one_id_the_centers_own_counts(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    arrive(instance, "2024-06-02")
    detector = EventLogDetector(instance, world.center, world.store.read)
    detector.poll()
    day = Slice("dwd", "2024-06-02")
    own = instance.create_run_for_job(_job(), tags={RUN_TAG: "own"}).run_id
    world.center.launch([day], own, "default")
    doubled = instance.create_run_for_job(_job(), tags={RUN_TAG: own})
    instance.report_run_canceled(doubled)
    detector.poll()
    assert world.center.failed_slices() == []
    run = instance.get_run_by_id(own)
    assert run is not None
    instance.report_run_failed(run)
    detector.poll()
    assert world.center.failed_slices() == [day]


def test_what_a_run_wrote_is_kept_with_the_id_that_dagster_has_it_by(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    written = {"dagster/row_count": 16, "bytes": 2048, "delta_version": 7, "seconds": 0.5}

    @dg.asset(partitions_def=dg.DailyPartitionsDefinition("2024-06-01"))
    def dwd() -> dg.MaterializeResult[None]:
        return dg.MaterializeResult(metadata=written)

    world = CenterWorld(tmp_path, **CHAIN)
    arrive(instance, "2024-06-01")
    detector = EventLogDetector(instance, world.center, world.store.read)
    detector.poll()
    day = Slice("dwd", "2024-06-01")
    world.center.launch([day], "asked", "default")
    run = dg.materialize([dwd], instance=instance, partition_key="2024-06-01", tags={RUN_TAG: "asked"})
    detector.poll()
    (done,) = (step for step in world.store.read.history(day) if step.event is Event.COMPLETED)
    assert (done.facts.run_id, done.run_in_dagster) == ("asked", run.run_id)
    assert (done.facts.row_count, done.facts.snapshot_id) == (16, "7")
    by_id = [world.store.read.slices_of_run(name) for name in ("asked", run.run_id, run.run_id[:8], "%", "")]
    assert by_id == [[day], [day], [], [], []]
    assert done.facts.parameters == {"size_bytes": 2048, "seconds": 0.5}


def test_what_somebody_else_completed_is_not_taken_for_wiped(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """Dagster never knew of what was reported; the third day it was made to forget."""
    world = CenterWorld(tmp_path, **CHAIN)
    detector = EventLogDetector(instance, world.center, world.store.read)
    world.tell("ods@2024-06-01", "observed")
    world.run("dwd@2024-06-01", "theirs")
    world.tell("ods@2024-06-02", "completed")
    arrive(instance, "2024-06-03")
    detector.poll()
    instance.wipe_assets([dg.AssetKey(["ods"])])
    assert [detector.inspect_wiped() for _ in range(2)] == [1, 0]
    assert [str(slice_) for slice_, _ in world.center.completed_slices()] == [
        "ods@2024-06-01",
        "ods@2024-06-02",
        "dwd@2024-06-01",
    ]


def _job() -> dg.JobDefinition:
    @dg.op
    def nothing() -> None: ...

    @dg.job
    def alone() -> None:
        nothing()

    return alone


def materialize(instance: dg.DagsterInstance, day: str) -> str:
    """A run that computes a day of `dwd`; returns its id."""

    @dg.asset(name="dwd", partitions_def=dg.StaticPartitionsDefinition(["2024-06-01", "2024-06-02", "2024-06-03"]))
    def dwd() -> None: ...

    result = dg.materialize([dwd], instance=instance, partition_key=day)
    return result.run_id


def stands(world: CenterWorld) -> list[str]:
    return sorted(str(slice_) for slice_, _ in world.center.completed_slices())


def test_runs_that_were_removed_say_nothing_of_the_data(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    arrive(instance, "2024-06-01")
    runs = [materialize(instance, day) for day in ("2024-06-01", "2024-06-02")]
    detector = EventLogDetector(instance, world.center, world.store.read)
    detector.poll()
    before = stands(world)
    for run in runs:
        instance.delete_run(run)
    detector.poll()
    detector.inspect_wiped()
    again = EventLogDetector(instance, world.open_center(), world.store.read)
    again.poll()
    again.inspect_wiped()
    assert stands(world) == before == ["dwd@2024-06-01", "dwd@2024-06-02", "ods@2024-06-01"]
    materialize(instance, "2024-06-03")
    detector.poll()
    assert "dwd@2024-06-03" in stands(world), "numbers of events that were deleted are used again"


def test_a_storage_that_begins_again_loses_nothing(
    tmp_path: Path,
    instance: dg.DagsterInstance,
    tmp_path_factory: pytest.TempPathFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    for day in ("2024-06-01", "2024-06-02"):
        arrive(instance, day)
    materialize(instance, "2024-06-01")
    detector = EventLogDetector(instance, world.center, world.store.read)
    detector.poll()
    before = stands(world)
    with dg.instance_for_test(temp_dir=str(tmp_path_factory.mktemp("new_home"))) as other:
        detector.instance = other
        detector.poll()
        detector.inspect_wiped()
        assert stands(world) == before
        materialize(other, "2024-06-02")
        detector.poll()
        assert stands(world) == [*before[:1], "dwd@2024-06-02", *before[1:]]
        last = world.store.read.last()
        EventLogDetector(other, world.open_center(), world.store.read).poll()
        assert world.store.read.last() == last
    assert "it is another log, or was cut" in caplog.text


def test_a_run_that_succeeded_is_asked_for_what_its_events_say(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its events have numbers below the position: newer ones were deleted meanwhile."""
    world = CenterWorld(tmp_path, **CHAIN)
    arrive(instance, "2024-06-01")
    detector = EventLogDetector(instance, world.center, world.store.read)
    detector.poll()
    run = materialize(instance, "2024-06-01")
    day = Slice("dwd", "2024-06-01")
    world.center.launch([day], run, "default")
    with monkeypatch.context() as patch:
        patch.setattr(instance.event_log_storage, "get_event_records", lambda *_, **__: [])
        detector.poll()
    assert (world.center.failed_slices(), str(day) in stands(world)) == ([], True)

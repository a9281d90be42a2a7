"""What Dagster's event log tells the center, when it tells it late, and of whom it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.center.test_center import CHAIN, CenterWorld
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.dependency_model.slice import Slice
from tidemark.warm_runs.launcher import RUN_TAG

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

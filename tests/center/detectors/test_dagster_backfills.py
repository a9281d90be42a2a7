"""A backfill from Dagster's pages is completed with what it leaves out, once its own runs have done their part."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset
from dagster._core.execution.asset_backfill import AssetBackfillData
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill

from tests.center.launchers import MemoryLauncher
from tests.center.test_backfills import DAYS, BackfillWorld
from tests.center.test_center import NOW
from tidemark.center.detectors.dagster_backfills import DagsterBackfillDetector
from tidemark.dependency_model.backfill import BackfillPhase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = {
    "a": "period: day",
    "b": "{period: day, depends_on: [a]}",
    "week": "{period: day, depends_on: [b, {entity: week, offset: Set -1}], start: 2024-06-01}",
}
A, B, LAST = f"a@{DAYS[0]}", f"b@{DAYS[0]}", f"week@{DAYS[1]}"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def world(tmp_path: Path) -> BackfillWorld:
    made = BackfillWorld(tmp_path, MemoryLauncher(), **TEXTS)
    made.fill()
    return made


def begin(instance: dg.DagsterInstance, name: str) -> PartitionBackfill:
    """As somebody starts it on the page of an asset."""
    days = dg.DailyPartitionsDefinition("2024-06-01", end_date="2024-06-03")
    subsets = {dg.AssetKey(name): days.subset_with_partition_keys([DAYS[0]])}
    target = AssetGraphSubset(subsets, set())  # type: ignore[call-arg]
    data = AssetBackfillData.empty(target, time.time(), instance)
    backfill = PartitionBackfill(
        "abc",
        BulkActionStatus.REQUESTED,
        from_failure=False,
        tags={},
        backfill_timestamp=time.time(),
        asset_selection=[dg.AssetKey(name)],
        asset_backfill_data=data,
    )
    instance.add_backfill(backfill)
    return backfill


def test_what_it_leaves_out_is_rebuilt_once_its_own_runs_are_done(
    world: BackfillWorld, instance: dg.DagsterInstance
) -> None:
    begin(instance, "a")
    detector = DagsterBackfillDetector(world.center, lambda: NOW)
    for _ in range(3):
        detector.poll(instance)
    (row,) = world.stored.rows()
    assert (row.phase, row.request.origin) == (BackfillPhase.RUNNING, "dagster:abc")
    assert world.step() == 0
    world.tell(A, "completed", "of Dagster", run="of Dagster")
    world.work()
    assert world.stored.row(row.number).phase is BackfillPhase.DONE
    assert set(world.progress(row.number).values()) == {"rebuilt"}
    assert {name for name, generation in world.generations().items() if generation == 2} == {
        *(A, B, f"week@{DAYS[0]}", LAST)
    }
    assert max(world.generations().values()) == 2


def test_what_it_does_not_come_to_is_kept(world: BackfillWorld, instance: dg.DagsterInstance) -> None:
    backfill = begin(instance, "a")
    detector = DagsterBackfillDetector(world.center, lambda: NOW)
    detector.poll(instance)
    instance.update_backfill(backfill._replace(status=BulkActionStatus.CANCELED))
    for _ in range(2):
        detector.poll(instance)
    world.work()
    assert world.stored.rows()[0].phase is BackfillPhase.DONE
    assert set(world.progress(1).values()) == {"kept"}
    assert set(world.generations().values()) == {1}


def test_one_that_leaves_out_nothing_or_computes_for_the_first_time_needs_none(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    empty = BackfillWorld(tmp_path, MemoryLauncher(), **TEXTS)
    begin(instance, "a")
    DagsterBackfillDetector(empty.center, lambda: NOW).poll(instance)
    assert empty.stored.rows() == []

"""Tags of the capture as facts: what arrived is released, what was restated is computed again, downstream too."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import CenterWorld
from tidemark.center.detectors.snapshots import SnapshotDetector
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2024-06-02"
CAPTURED = (
    "{period: day, kind: Snapshot, source: {table: school.orders, instances: [a]}, key: [id], late_events: restate}"
)
NAMED = TaggedSnapshot("ods", "day", DAY, 4, 10, datetime(2024, 6, 3, tzinfo=UTC))


class Captured(CenterWorld):
    """A captured table, what is made of it, and the detector that a process has just opened."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ods=CAPTURED, dwd="{period: day, depends_on: [ods]}")
        self.registry = SnapshotRegistry(self.store.database)
        self.registry.tag([NAMED])

    def poll(self) -> None:
        SnapshotDetector(self.registry, self.center, self.store.read).poll()

    def restate(self, late_batch: int) -> None:
        self.registry.restate([("ods", "day", DAY)], late_batch)

    def run_state(self, name: str = "ods") -> tuple[RunState, int]:
        status = self.center.status(Slice(name, DAY))
        return status.run_state, status.generation


@pytest.fixture
def world(tmp_path: Path) -> Captured:
    return Captured(tmp_path)


def test_a_restated_snapshot_is_computed_again_and_so_is_what_was_made_of_it(world: Captured) -> None:
    world.poll()
    world.run(f"ods@{DAY}", "r1")
    world.run(f"dwd@{DAY}", "r2")
    assert (world.run_state(), world.run_state("dwd")) == ((RunState.COMPLETED, 1), (RunState.COMPLETED, 1))

    world.restate(7)
    for _ in range(3):
        world.poll()
    assert (world.run_state(), world.run_state("dwd")) == ((RunState.READY, 2), (RunState.COMPLETED, 1))
    world.run(f"ods@{DAY}", "r3")
    assert world.run_state() == (RunState.COMPLETED, 2)
    assert world.run_state("dwd") == (RunState.READY, 2)
    told = [
        transition
        for transition in world.store.read.history(Slice("ods", DAY))
        if transition.event is Event.BACKFILL_REQUESTED
    ]
    assert [transition.why for transition in told] == ["version 4 was restated with late changes, generation 2"]
    world.run(f"dwd@{DAY}", "r4")
    world.poll()
    assert (world.ready(), world.run_state("dwd")) == ([], (RunState.COMPLETED, 2))


def test_what_waits_for_late_events_is_not_there_yet(world: Captured) -> None:
    world.registry.forget("ods")
    world.registry.tag([replace(NAMED, late_until=1000)])
    world.poll()
    assert world.run_state() == (RunState.WAITING, 1)
    world.restate(7)
    world.poll()
    assert world.run_state() == (RunState.WAITING, 1)
    world.registry.stop_waiting([("ods", "day", DAY)])
    world.poll()
    world.run(f"ods@{DAY}", "r1")
    world.poll()
    assert (world.run_state(), world.run_state("dwd")) == ((RunState.COMPLETED, 1), (RunState.READY, 1))


def test_what_is_restated_before_it_is_computed_is_computed_once(world: Captured) -> None:
    world.restate(7)
    world.poll()
    world.restate(8)
    world.poll()
    world.run(f"ods@{DAY}", "r1")
    world.poll()
    assert world.run_state() == (RunState.COMPLETED, 1)


def test_a_run_that_may_have_read_what_was_is_followed_by_another(world: Captured) -> None:
    world.poll()
    assert world.center.launch([Slice("ods", DAY)], "r1", "default")
    world.restate(7)
    world.poll()
    assert world.run_state() == (RunState.LAUNCHED, 1)
    world.tell(f"ods@{DAY}", "completed", run="r1")
    world.poll()
    assert world.run_state() == (RunState.READY, 2)


def test_a_failed_one_is_tried_again_and_one_that_nobody_knows_is_passed_over(world: Captured) -> None:
    world.registry.tag([TaggedSnapshot("gone", "day", DAY, 1, 1, NAMED.tagged_at)])
    world.registry.restate([("gone", "day", DAY)], 1)
    world.poll()
    assert world.center.launch([Slice("ods", DAY)], "r1", "default")
    world.tell(f"ods@{DAY}", "failed", run="r1")
    world.restate(7)
    world.poll()
    assert world.run_state() == (RunState.READY, 2)

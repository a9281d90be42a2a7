"""Tags of the capture as facts: what arrived is released, what was restated is computed again, downstream too.

What waits for its rules is released, too, and judged by its run.
"""

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
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2024-06-02"
CAPTURED = (
    "{period: day, kind: Snapshot, source: {table: school.orders, instances: [a]}, key: [id], late_events: restate}"
)
NAMED = TaggedSnapshot("ods", "day", DAY, 4, 10, datetime(2024, 6, 3, tzinfo=UTC))


class Captured(CenterWorld):
    """A captured table, what is made of it, and the detector that a process has just opened."""

    def __init__(self, folder: Path, declared: str = CAPTURED) -> None:
        super().__init__(folder, ods=declared, dwd="{period: day, depends_on: [ods]}")
        self.registry = SnapshotRegistry(self.store.database)
        self.registry.tag([NAMED])

    def poll(self) -> None:
        SnapshotDetector(self.registry, self.center, self.store.read, lambda name: self.folder / name).poll()

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


@pytest.fixture
def audited(tmp_path: Path) -> Captured:
    """Nothing is tagged yet: the version waits for its rules."""
    world = Captured(tmp_path, CAPTURED.replace("key:", "quality: [{not_null: [id]}], key:"))
    world.registry.forget("ods")
    world.registry.candidates.propose([NAMED])
    return world


def test_a_candidate_is_judged_by_a_run_and_tells_no_version_before(audited: Captured) -> None:
    audited.poll()
    audited.poll()
    assert audited.run_state() == (RunState.READY, 1)
    (released,) = audited.store.read.history(Slice("ods", DAY))
    assert (released.why, released.facts.snapshot_id) == ("version 4 is to be checked", None)
    assert audited.registry.of("ods") == ()


def test_a_restatement_of_a_tag_is_judged_and_the_tag_stays_until_then(audited: Captured) -> None:
    audited.poll()
    audited.registry.candidates.publish(NAMED, NAMED.tagged_at)
    audited.run(f"ods@{DAY}", "r1")
    audited.registry.restate([NAMED.key], 7, audited={"ods"})
    for _ in range(3):
        audited.poll()
    assert audited.run_state() == (RunState.READY, 2)
    assert audited.registry.of("ods") == (NAMED,)


def test_a_tag_that_the_registry_lost_is_written_again_without_judging(audited: Captured) -> None:
    """The transitions say that exactly this version has passed; of another version nobody knows it."""
    audited.poll()
    passed = Slice("ods", DAY)
    assert audited.center.launch([passed], "r1", "default")
    audited.tell(f"ods@{DAY}", "completed", run="r1", data=Facts(run_id="r1", snapshot_id="4"))
    audited.tell(f"ods@{DAY}", "quality_passed")
    audited.poll()
    assert [tag.version for tag in audited.registry.of("ods")] == [4]
    assert (audited.registry.candidates.of("ods"), audited.run_state()) == ((), (RunState.COMPLETED, 1))
    audited.registry.forget("ods")
    audited.registry.candidates.propose([replace(NAMED, version=5)])
    audited.poll()
    assert (audited.registry.of("ods"), audited.run_state()[1]) == ((), 2)

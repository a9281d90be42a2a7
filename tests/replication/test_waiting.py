"""A center beside the replica waits for its slices, sees what was published of them, and each new generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest
from deltalake import DeltaTable

from tests.center.detectors.test_outside import OutsideWorld
from tests.crawl.source_world import look
from tests.replication.lakes import TwoLakes
from tidemark.center.taint import Taint, carry_out
from tidemark.delta.delta_rs_table import current_version
from tidemark.delta.published_slice import published_generation
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.arrival.sighting import Sight

DAY, NEXT = "2026-03-28", "2026-03-29"
JUNE = "2024-06-01"


@pytest.fixture
def lakes(tmp_path: Path) -> TwoLakes:
    return TwoLakes.at(tmp_path)


def seen(lakes: TwoLakes, day: str, more: str = "") -> Sight:
    table = f"{{table: '{lakes.replica}', replica_of: sales, partition: {{dt: '{{key}}'}}}}"
    return look(f"delta: {table}", day, more=more)


def test_a_slice_is_there_once_it_is_published(lakes: TwoLakes) -> None:
    assert seen(lakes, DAY).why == "the table does not exist yet"
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 2, 3]}))
    lakes.write(NEXT, {"id": [4]})
    lakes.replicate()
    sight = seen(lakes, DAY)
    assert (sight.is_there, sight.rows, sight.content, sight.version) == (True, 3, "generation 1", "0")
    assert seen(lakes, NEXT).why == f"sales@{NEXT} was not published by version 0"


def test_readers_use_the_version_that_published_the_slice(lakes: TwoLakes) -> None:
    for day in (DAY, NEXT):
        lakes.complete(day, lakes.write(day, {"id": [1]}))
        lakes.replicate()
    assert [seen(lakes, day).version for day in (DAY, NEXT)] == ["0", "1"]


@pytest.mark.parametrize("rows", [[1, 2], [5]])
def test_another_generation_is_seen_also_with_the_same_rows(lakes: TwoLakes, rows: list[int]) -> None:
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 2]}))
    lakes.replicate()
    before = seen(lakes, DAY)
    lakes.complete(DAY, lakes.write(DAY, {"id": rows}))
    assert seen(lakes, DAY) == before
    lakes.replicate()
    after = seen(lakes, DAY)
    assert (after.content, after.rows, after.version) == ("generation 2", len(rows), "1")


def test_a_slice_without_rows_is_there(lakes: TwoLakes) -> None:
    lakes.complete(NEXT, lakes.write(NEXT, {"id": [1]}))
    lakes.replicate()
    version = lakes.write(DAY, {"id": [1]})
    DeltaTable(str(lakes.source)).delete(f"dt = '{DAY}'")
    lakes.complete(DAY, version + 1)
    lakes.replicate()
    assert (seen(lakes, DAY).is_there, seen(lakes, DAY).rows) == (True, 0)


def test_rules_look_at_the_rows_that_were_published(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 1, 2]}))
    lakes.replicate()
    assert dict(seen(lakes, DAY, "quality: [{unique: [id]}]\n").measured) == {"unique": 1}


def test_a_checkpoint_keeps_published_slices(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, {"id": [1]}))
    lakes.replicate()
    DeltaTable(str(lakes.replica)).create_checkpoint()
    (lakes.replica / "_delta_log" / f"{0:020d}.json").unlink()
    assert published_generation(DeltaTable(str(lakes.replica)), f"sales@{DAY}") == (1, 0, None)


def second_center(lakes: TwoLakes, folder: Path, instance: dg.DagsterInstance) -> OutsideWorld:
    """A center with its own state store, which computes `report` of one day from the replica of `sales`."""
    table = f"{{table: '{lakes.replica}', replica_of: sales, partition: {{dt: '{{key}}'}}}}"
    probe = f"{{delta: {table}, settle_for: 1m, late_every: 1m, recheck_for: 30d}}"
    span = f"period: day, start: {JUNE}, end: 2024-06-02"
    declared = {"sales": f"{{kind: Virtual, {span}, probe: {probe}}}", "report": f"{{{span}, depends_on: [sales]}}"}
    return OutsideWorld(folder / "center_b", instance, **declared)


def test_slices_computed_from_a_replica_are_rebuilt_with_each_generation(lakes: TwoLakes, tmp_path: Path) -> None:
    day = JUNE
    with dg.DagsterInstance.ephemeral() as instance:
        world = second_center(lakes, tmp_path, instance)
        world.go_on(10)
        assert world.ready() == []
        for generation, ids in enumerate(([1, 2], [1, 2, 3]), start=1):
            lakes.complete(day, lakes.write(day, {"id": ids}))
            world.go_on(10)
            assert world.ready() == []
            lakes.replicate()
            world.go_on(10)
            assert world.ready() == [f"report@{day}"]
            world.run(f"report@{day}", f"run {generation}")
            history = world.store.read.history(Slice("sales", day))
            assert (history[-1].status.generation, history[-1].facts.row_count or len(ids)) == (generation, len(ids))


def test_a_taint_at_the_source_taints_what_was_computed_from_the_replica_until_it_is_computed_again(
    lakes: TwoLakes, tmp_path: Path
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        world = second_center(lakes, tmp_path, instance)
        lakes.complete(JUNE, lakes.write(JUNE, {"id": [1]}))
        lakes.replicate()
        world.go_on(10)
        world.run(f"report@{JUNE}", "first run")
        lakes.report(JUNE, "tainted", "the supplier sent two files twice")
        world.go_on(10)
        assert tainted(world) == [False, False]
        lakes.replicate()
        lakes.replicate()
        assert (lakes.copy(JUNE).state.value, current_version(lakes.replica)) == ("published", 1)
        world.go_on(10)
        assert tainted(world) == [True, True]
        mark = world.store.read.history(Slice("sales", JUNE))[-1]
        assert (mark.who, "the supplier sent two files twice" in mark.why) == ("source of the replica", True)
        assert world.ready() == []
        lakes.complete(JUNE, lakes.write(JUNE, {"id": [1, 2]}))
        lakes.replicate()
        world.go_on(10)
        assert world.ready() == [f"report@{JUNE}"]
        world.run(f"report@{JUNE}", "second run")
        assert tainted(world) == [False, False]


def test_a_slice_that_was_found_wrong_before_the_center_looked_releases_nothing(
    lakes: TwoLakes, tmp_path: Path
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        world = second_center(lakes, tmp_path, instance)
        lakes.complete(JUNE, lakes.write(JUNE, {"id": [1]}))
        lakes.replicate()
        lakes.report(JUNE, "quality_failed", "its rules were run again")
        lakes.replicate()
        world.go_on(10)
        assert (tainted(world)[0], world.ready()) == (True, [])
        lakes.report(JUNE, "quality_passed")
        lakes.replicate()
        world.go_on(10)
        assert (tainted(world)[0], world.ready()) == (False, [f"report@{JUNE}"])


def test_a_taint_by_a_person_in_the_second_center_stays(lakes: TwoLakes, tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        world = second_center(lakes, tmp_path, instance)
        lakes.complete(JUNE, lakes.write(JUNE, {"id": [1]}))
        lakes.replicate()
        world.go_on(10)
        carry_out(world.graph, world.store, Taint((Slice("sales", JUNE),), "ann", "odd rows", world.now))
        world.center.catch_up()
        world.go_on(10)
        assert tainted(world)[0]


def test_quality_run_and_inputs_travel_with_a_slice(lakes: TwoLakes) -> None:
    lakes.complete(DAY, lakes.write(DAY, {"id": [1]}))
    lakes.replicate()
    lakes.complete(NEXT, lakes.write(NEXT, {"id": [2]}))
    lakes.replicate()
    origin = seen(lakes, DAY).origin
    assert (origin["slice"], origin["generation"], origin["quality"]) == (f"sales@{DAY}", 1, "passed")
    assert origin["completed_at"] == lakes.store.read.history(Slice("sales", DAY))[-2].event_time.isoformat()


def tainted(world: OutsideWorld) -> list[bool]:
    return [world.center.status(Slice(name, JUNE)).tainted for name in ("sales", "report")]

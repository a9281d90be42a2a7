"""A center beside the replica waits for its slices, sees what was published of them, and each new generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest
from deltalake import DeltaTable

from tests.center.detectors.test_outside import OutsideWorld
from tests.crawl.source_world import look
from tests.replication.lakes import TwoLakes
from tidemark.delta.published_slice import published_generation
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.arrival.sighting import Sight

DAY, NEXT = "2026-03-28", "2026-03-29"


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
    assert published_generation(DeltaTable(str(lakes.replica)), f"sales@{DAY}") == (1, 0)


def test_slices_computed_from_a_replica_are_rebuilt_with_each_generation(lakes: TwoLakes, tmp_path: Path) -> None:
    day, table = "2024-06-01", f"{{table: '{lakes.replica}', replica_of: sales, partition: {{dt: '{{key}}'}}}}"
    probe = f"{{delta: {table}, settle_for: 1m, late_every: 1m, recheck_for: 30d}}"
    span = f"period: day, start: {day}, end: 2024-06-02"
    declared = {"sales": f"{{kind: Virtual, {span}, probe: {probe}}}", "report": f"{{{span}, depends_on: [sales]}}"}
    with dg.DagsterInstance.ephemeral() as instance:
        world = OutsideWorld(tmp_path / "center_b", instance, **declared)
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

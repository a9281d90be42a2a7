"""Random warehouses of all kinds, in real runs, against the slow reference: what is computed, when, from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.generator import PROJECT, Generated, generate
from tests.dagster.kinds.reference import Key, Reference
from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def text_of(key: Key) -> str:
    name, day, part = key
    return f"{name}@{day}" + (f"/region={part}" if part else "")


def compare(world: RunningWarehouse, reference: Reference, generated: Generated) -> None:
    """Content and states of every slice that anybody computed."""
    computed = {made.name for made in generated.entities if made.kind not in ("Virtual", "Project")}
    expected = {
        text_of(key): (content.value, content.states) for key, content in reference.there.items() if key[0] in computed
    }
    actual: dict[str, tuple[str, set[str]]] = {}
    for name in computed:
        for current in world.read.older([(name, sub) for sub in world.warehouse.graph.node(name).subs], "~", 400):
            states = current.status.states - {"backfilled"}
            if states:
                (row,) = world.rows(str(current.slice))
                actual[str(current.slice)] = (row[0], set(states))
                is_done = current.status.run_state is RunState.COMPLETED
                assert is_done == ("completed" in states), current
    assert actual == expected, f"seed {generated.seed}\n{generated.files}"
    check_manifests(world, reference, computed)


def check_manifests(world: RunningWarehouse, reference: Reference, computed: set[str]) -> None:
    """Each slice was launched with what the reference reads, in versions that hold what the reference read."""
    expected = {text_of(key): content.used for key, content in reference.there.items() if key[0] in computed}
    launches = world.read.launches(map(Slice.parse, expected))
    for slice_, launch in launches.items():
        assert launch.facts.manifest is not None
        used_slices = launch.facts.manifest.used_slices.items()
        # A project's root holds nothing that is read.
        used = {str(used.slice): used for name, slices in used_slices if name != "school.root" for used in slices}
        wanted = {text_of(key): reference.there[key].value for key in expected[str(slice_)]}
        assert used.keys() == wanted.keys(), slice_
        versions = {text: int(used[text].version) for text in wanted}
        opened = {text: world.rows(text, version) for text, version in versions.items()}
        assert opened == {text: [(value,)] for text, value in wanted.items()}, slice_


def check_order(world: RunningWarehouse) -> None:
    """Each launch came after everything that its manifest names."""
    there: dict[str, int] = {}
    for step in world.read.after(0):
        if step.event in (Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED, Event.REACHED):
            there[str(step.slice)] = step.seq
        if step.event is Event.LAUNCHED:
            assert step.facts.manifest is not None
            for used in (used for of_entity in step.facts.manifest.used_slices.values() for used in of_entity):
                assert str(used.slice) in there, f"{step.slice} was launched before {used.slice} was there"


def prove(spark: SparkSession, folder: Path, seed: int, computed: int, batches: int) -> None:
    generated = generate(seed, computed, batches)
    reference = Reference(generated)
    with running(spark, folder / str(seed), generated.files, project=PROJECT) as world:
        for step in generated.steps:
            for text in step:
                world.arrive_value(text, text)
            world.run()
            reference.arrive(step)
            compare(world, reference, generated)
        check_order(world)
        assert world.dispatch.retries_exhausted() == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_generated_warehouse(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    prove(spark, tmp_path, seed, computed=2, batches=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1_000, 1_300))
def test_one_of_three_hundred_generated_warehouses(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    prove(spark, tmp_path, seed, computed=4, batches=2 + seed % 2)

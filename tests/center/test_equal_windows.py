"""Two entities of one period in a series: what one says of a window holds for the other, and for who reads that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.center.test_center import CenterWorld
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

HOUR, OTHER = "2024-06-02T15", "2024-06-02T16"
SPAN = "start: 2024-06-02T15, end: 2024-06-02T17"
RULES = "quality: [{row_count: {min: 1}}]"
EXTERNAL = {
    "ingested": f"{{kind: Virtual, period: hour, series: foo, {SPAN}}}",
    "judged": f"{{kind: Virtual, period: hour, series: foo, {SPAN}, {RULES}}}",
    "minutes": "{kind: Virtual, period: 10min, series: foo, start: 2024-06-02T15, end: 2024-06-02T17}",
    "strict": f"{{period: hour, {SPAN}, depends_on: [ingested]}}",
    "loose": f"{{period: hour, {SPAN}, depends_on: [{{entity: ingested, quality: ignore}}]}}",
}
CHAIN = {
    "ingested": f"{{kind: Virtual, period: hour, series: foo, {SPAN}}}",
    "clean": f"{{period: hour, series: foo, {SPAN}, depends_on: [ingested]}}",
    "judged": f"{{period: hour, series: foo, {SPAN}, depends_on: [clean], {RULES}}}",
    "strict": f"{{period: hour, {SPAN}, depends_on: [clean]}}",
}


def is_valid(world: CenterWorld, text: str) -> bool:
    return world.center.status(Slice.parse(text)).valid


def test_a_strict_reader_waits_though_only_the_other_entity_knows_that_the_hour_is_bad(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **EXTERNAL)
    world.tell(f"judged@{HOUR}", "observed")
    world.tell(f"judged@{HOUR}", "quality_failed")
    for key in (HOUR, OTHER):
        world.tell(f"ingested@{key}", "observed")
    world.tell(f"minutes@{HOUR}:50", "observed")
    assert set(world.ready()) == {f"loose@{HOUR}", f"loose@{OTHER}", f"strict@{OTHER}"}
    assert not is_valid(world, f"ingested@{HOUR}")
    assert not is_valid(world, f"minutes@{HOUR}:50")
    assert is_valid(world, f"ingested@{OTHER}")
    world.tell(f"judged@{HOUR}", "quality_passed")
    assert f"strict@{HOUR}" in world.ready()
    assert is_valid(world, f"ingested@{HOUR}")


def test_a_window_that_is_judged_by_what_is_made_of_it_is_computed_again_all_the_same(
    tmp_path: Path,
) -> None:
    """Its flag is on all that it was made of, and goes once they are right."""
    world = CenterWorld(tmp_path, **CHAIN)
    world.tell(f"ingested@{HOUR}", "observed")
    for name in ("clean", "judged"):
        world.run(f"{name}@{HOUR}", f"first {name}")
    world.tell(f"judged@{HOUR}", "quality_failed")
    assert not any(is_valid(world, f"{name}@{HOUR}") for name in ("ingested", "clean", "judged"))
    assert f"strict@{HOUR}" not in world.ready()
    world.tell(f"ingested@{HOUR}", "backfill_requested")
    world.tell(f"ingested@{HOUR}", "observed", event_id="again")
    for name in ("clean", "judged"):
        assert f"{name}@{HOUR}" in world.ready()
        world.run(f"{name}@{HOUR}", f"again {name}")
    world.tell(f"judged@{HOUR}", "quality_passed")
    assert all(is_valid(world, f"{name}@{HOUR}") for name in ("ingested", "clean", "judged"))
    assert f"strict@{HOUR}" in world.ready()

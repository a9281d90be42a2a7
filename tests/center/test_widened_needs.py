"""A declaration that widens what a complete slice needs: compared with what was read, and outdated by policy, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.center.widened_needs import WidenedNeeds

if TYPE_CHECKING:
    from pathlib import Path

NEXT: Final = "2031-05-06"
REPORT: Final = f"report@{NEXT}"
SALES: Final = "{period: day}"
PARTS: Final = "{period: day, sub_partitions: {region: [eu, us]}}"
ONE_PART: Final = "{period: day, sub_partitions: {region: [eu]}}"
READS_ONE: Final = "[{entity: sales, offset: 'Set 0'}]"
Project = dict[str, str]


def project(reads: str, policy: str = "always", **others: str) -> Project:
    report = f"{{period: day, start: {NEXT}, reprocess: {policy}, depends_on: {reads}}}"
    return {"sales": SALES, **others, "report": report}


WIDENED: Final = {
    "start earlier": (
        project("[{entity: sales, offset: 'Set -1,0'}]", sales=f"{{period: day, start: {NEXT}}}"),
        project("[{entity: sales, offset: 'Set -1,0'}]"),
    ),
    "end later": (
        project("[{entity: sales, offset: 'Set -1,0'}]", sales=f"{{period: day, end: {NEXT}}}"),
        project("[{entity: sales, offset: 'Set -1,0'}]"),
    ),
    "region": (project("[sales]", sales=ONE_PART), project("[sales]", sales=PARTS)),
    "chosen region": (
        project("[{entity: sales, sub: {region: [eu]}}]", sales=PARTS),
        project("[{entity: sales, sub: {region: [eu, us]}}]", sales=PARTS),
    ),
    "offset": (project(READS_ONE), project("[{entity: sales, offset: 'Set -1,0'}]")),
    "period of an input": (project("[sales]"), project("[sales]", sales="{period: hour}")),
    "dependency": (project("[sales]", costs=SALES), project("[sales, costs]", costs=SALES)),
    "dependency on a new table": (project("[sales]"), project("[sales, costs]", costs=SALES)),
    "last available of a table": (
        project("[sales]", costs=SALES),
        project("[sales, {entity: costs, offset: last_available}]", costs=SALES),
    ),
}  # fmt: skip


def settled(folder: Path, declared: Project) -> ChangingWorld:
    world = ChangingWorld(folder, declared)
    world.later(days=1)
    world.settle()
    assert world.state("report", NEXT) == "completed"
    return world


@pytest.mark.parametrize("kind", WIDENED)
def test_what_needs_more_is_computed_again_once(tmp_path: Path, kind: str) -> None:
    before, after = WIDENED[kind]
    world = settled(tmp_path, before)
    world.declare(after)
    assert REPORT in world.settle()
    assert world.generation("report", NEXT) == 2
    assert "partial" not in world.status(REPORT).states
    world.declare(after)
    assert world.settle() == []
    if kind not in ("region", "period of an input"):  # of a whole nobody told what was read; days are no hours
        world.declare(before)
        assert REPORT not in world.settle()
        world.declare(after)
        assert REPORT not in world.settle()


@pytest.mark.parametrize("kind", WIDENED)
def test_what_nobody_told_the_inputs_of_is_compared_with_its_declaration_before(tmp_path: Path, kind: str) -> None:
    before, after = WIDENED[kind]
    without = {name: text for name, text in before.items() if name != "report"}
    world = ChangingWorld(tmp_path, without)
    world.later(days=1)
    world.settle()
    world.declare(before)
    world.center.tick()
    world.tell(REPORT, "completed", "by hand")
    world.settle()
    world.declare(before)
    assert world.settle() == []
    world.declare(after)
    assert REPORT in world.settle()


@pytest.mark.parametrize(("policy", "told"), [("ask", "tainted"), ("never", "partial"), ("if_changed", "again")])
def test_its_policy_says_what_becomes_of_it(tmp_path: Path, policy: str, told: str) -> None:
    world = settled(tmp_path, project("[sales]", policy, costs=SALES))
    world.declare(project("[sales, costs]", policy, costs=SALES))
    assert (REPORT in world.settle()) == (told == "again")
    status = world.status(REPORT)
    assert (status.tainted, status.asked) == (told == "tainted", told == "tainted")
    assert ("partial" in status.states) == (told == "partial")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_run_that_began_before_ends_with_a_slice_that_needs_more(tmp_path: Path, *, is_there: bool) -> None:
    costs = SALES if is_there else "{period: day, kind: Virtual}"
    world = ChangingWorld(tmp_path, project("[sales]", costs=costs))
    world.later(days=1)
    while REPORT not in world.step():
        for slice_ in world.center.under_way():
            world.end(str(slice_))
    for slice_ in world.center.under_way():
        if str(slice_) != REPORT:
            world.end(str(slice_))
    world.declare(project("[sales, costs]", costs=costs))
    world.end(REPORT)
    if is_there:
        assert world.settle() == [REPORT]
    else:
        assert (world.step(), "partial" in world.status(REPORT).states) == ([], True)
        world.tell(f"costs@{NEXT}", "observed")
        assert world.settle() == [REPORT]


def test_a_project_that_needs_no_more_settles_nothing(tmp_path: Path) -> None:
    wide = project("[{entity: sales, offset: 'Set -1,0'}, costs]", costs=SALES)
    world = settled(tmp_path, wide)
    for narrow in (
        project(READS_ONE, costs=SALES),
        project("[sales]"),
        project("[sales, {entity: costs, weak: {any_of: true}}]", costs=SALES),
        project("[sales]", sales=f"{{period: day, start: {NEXT}}}"),
    ):
        world.declare(narrow)
        assert world.settle() == []
        assert world.status(REPORT).states == {"completed"}
        world.declare(wide)
        assert REPORT not in world.settle()


def test_only_entities_that_may_need_more_are_looked_at(tmp_path: Path) -> None:
    others = {f"other_{number}": "{period: day, depends_on: [sales]}" for number in range(3)}
    world = settled(tmp_path, project("[sales]", costs=SALES, **others))
    looked_at: list[str] = []

    class Noting:
        reads = staticmethod(world.store.read.reads)

        currents = staticmethod(world.store.read.currents)

        @staticmethod
        def completed_slices(name: str) -> object:
            looked_at.append(name)
            return world.store.read.completed_slices(name)

    world.declare(project("[sales, costs]", costs=SALES, **others))
    needs = WidenedNeeds(world.graph, world.store.database, Noting())  # type: ignore[arg-type]
    assert [(str(own.slice), [*map(str, own.lacks)]) for own in needs.slices()] == [(REPORT, [f"costs@{NEXT}"])]
    assert looked_at == ["report"]
    assert world.generation("report", DAY) == 1

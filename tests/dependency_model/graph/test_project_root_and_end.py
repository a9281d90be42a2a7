"""Projects: root and end nodes, and the proof that both forms of a dependency release the same slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dependency_model.world import entity, graph, keys, names
from tests.examples import examples
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from random import Random

DAYS = [f"2024-01-{day:02}" for day in range(1, 6)]


class Projects(NamedTuple):
    """A little company: tasks by project, which tasks and which projects each follows, and with what offset."""

    tasks: dict[str, list[str]]
    follows: dict[str, list[tuple[str, int]]]
    projects: dict[str, list[tuple[str, int]]]


def random_projects(random: Random) -> Projects:
    tasks = {f"p{p}": [f"p{p}t{t}" for t in range(random.randint(0, 3))] for p in range(4)}
    follows = {
        task: [(other, random.choice([0, -1])) for other in own[:at] if random.random() < 0.5]
        for own in tasks.values()
        for at, task in enumerate(own)
    }
    projects = {
        f"p{p}": [(f"p{q}", random.choice([0, -1])) for q in range(p) if random.random() < 0.5] for p in range(4)
    }
    return Projects(tasks, follows, projects)


def project_level(world: Projects, done: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The slices that may start: a task waits for whole projects, by looking at all of their tasks."""

    def is_finished(project: str, day: int) -> bool:
        if day < 0:
            return True
        own = all((task, day) in done for task in world.tasks[project])
        return own and all(is_finished(other, day + shift) for other, shift in world.projects[project])

    def may_start(project: str, task: str, day: int) -> bool:
        above = all(is_finished(other, day + shift) for other, shift in world.projects[project])
        return above and all(day + shift < 0 or (other, day + shift) in done for other, shift in world.follows[task])

    return {
        (task, day)
        for project, own in world.tasks.items()
        for task in own
        for day in range(len(DAYS))
        if (task, day) not in done and may_start(project, task, day)
    }


def task_level(world: Projects) -> DependencyGraph:
    declared = []
    for project, others in world.projects.items():
        lines = "".join(f"\n  - {{entity: {name}, offset: Set {shift}}}" for name, shift in others)
        declared.append(entity(project, f"kind: Project\nperiod: day{lines and chr(10) + 'depends_on:' + lines}"))
        for task in world.tasks[project]:
            lines = "".join(f"\n  - {{entity: {name}, offset: Set {shift}}}" for name, shift in world.follows[task])
            declared.append(entity(task, f"period: day\nproject: {project}{lines and chr(10) + 'depends_on:' + lines}"))
    return DependencyGraph.build(declared)


def released_slices(graph: DependencyGraph, world: Projects, done: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The slices that may start, looking at each slice's own requirements; roots and ends are there once met."""
    there = {Slice(task, DAYS[day]) for task, day in done}

    def is_met(slice_: Slice) -> bool:
        return all(input_ in there for requirement in graph.requirements(slice_) for input_ in requirement.slices)

    nodes = [Slice(name, day) for name in graph for day in DAYS if graph.entity(name).is_project]
    while result := [node for node in nodes if node not in there and is_met(node)]:
        there.update(result)
    tasks = [task for own in world.tasks.values() for task in own]
    waiting = [(task, day) for task in tasks for day in range(len(DAYS)) if (task, day) not in done]
    return {(task, day) for task, day in waiting if is_met(Slice(task, DAYS[day]))}


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@examples(25)
def test_project_level_and_task_level_release_the_same(random: Random) -> None:
    world = random_projects(random)
    graph = task_level(world)
    assert graph.problems() == ()
    done: set[tuple[str, int]] = set()
    for _ in range(40):
        expected = project_level(world, done)
        assert released_slices(graph, world, done) == expected
        if not expected:
            break
        done.add(random.choice(sorted(expected)))


def test_a_project_stands_for_a_root_and_an_end() -> None:
    world = graph(
        early="kind: Project\nperiod: day",
        late="kind: Project\nperiod: day\ndepends_on: [early]",
        first="period: day\nproject: early",
        hourly="period: hour\nproject: early\ndepends_on: [{entity: first, offset: Set -1}]",
        last="period: day\nproject: late",
        outside="period: day\ndepends_on: [late]",
    )
    assert world.problems() == ()
    assert keys(world, "first@2024-03-05") == {"early.root": ["2024-03-05"]}
    assert keys(world, "hourly@2024-03-05T07") == {"early.root": ["2024-03-05"], "first": ["2024-03-04"]}
    assert len(keys(world, "early@2024-03-05")["hourly"]) == 24
    assert keys(world, "late.root@2024-03-05") == {"early": ["2024-03-05"]}
    assert keys(world, "outside@2024-03-05") == {"late": ["2024-03-05"]}
    assert names(world.downstream(Slice("early", "2024-03-05"))) == ["late.root@2024-03-05"]

"""Backfills against the reference, and 10^5 random interleavings of live runs and backfills: never two writers."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.backfill.reference import rebuilt
from tests.dependency_model.backfill.simulated_center import (
    THERE,
    UNDER_WAY,
    SimulatedCenter,
    TwoWritersError,
    answer,
    drain,
)
from tests.dependency_model.world import graph
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.dependency_model.backfill.progress import ACTIVE
from tidemark.dependency_model.entity import Reprocess
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph

UNTIL = datetime(2024, 1, 4, tzinfo=UTC)
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")
POLICIES = ("always", "always", "if_changed", "never", "ask")


def chain(*policies: str) -> SimulatedCenter:
    """`a` to `d`, each of which reads the one before it, `c` the day before too."""
    names = "abcd"
    texts = {"a": "period: day"}
    for before, name, policy in zip(names[:-1], names[1:], policies or ("always",) * 3, strict=True):
        own = ", {entity: c, offset: Set -1}" if name == "c" else ""
        texts[name] = f"{{period: day, reprocess: {policy}, depends_on: [{before}{own}]}}"
    return world(graph(**texts))


def world(made: DependencyGraph) -> SimulatedCenter:
    return SimulatedCenter(made, [Slice(name, day) for name in made for day in DAYS], UNTIL)


@cache
def random_graph(seed: int, external: frozenset[str] = frozenset()) -> DependencyGraph:
    """Four entities, each of which reads some of those before it, of the same day, the day before, or itself.

    Those that are `external` read nothing: others make them.
    """
    random = Random(seed)
    texts = {"a": "period: day"} | dict.fromkeys(sorted(external), "{period: day, kind: Virtual}")
    for name in sorted({*"bcd"} - external):
        earlier = sorted(texts)
        chosen = random.sample(earlier, k=random.randint(1, len(earlier)))
        reads = [f"{{entity: {up}, offset: 'Set {random.choice(('0', '-1', '0,-1'))}'}}" for up in chosen]
        reads += [f"{{entity: {name}, offset: Set -1}}"] * (random.random() < 0.3)
        texts[name] = f"{{period: day, reprocess: {random.choice(POLICIES)}, depends_on: [{', '.join(reads)}]}}"
    return graph(**texts)


def random_world(random: Random) -> SimulatedCenter:
    return world(random_graph(random.randrange(300)))


def first(name: str) -> Slice:
    return Slice(name, DAYS[0])


def test_each_slice_is_rebuilt_once_after_its_inputs() -> None:
    center = chain()
    backfill = center.plan([first("a")])
    drain(center)
    assert backfill.phase is BackfillPhase.DONE
    assert sorted(center.computed) == sorted(backfill.plan.rebuilt)
    assert all(center.has_read(slice_, backfill.plan.members[slice_].inputs) for slice_ in center.computed[1:])


@pytest.mark.parametrize("seed", range(40))
def test_exactly_the_rebuilt_slices_have_a_new_generation(seed: int) -> None:
    """Roots of any kind: what others make stays as it is, and all that was built from it is rebuilt."""
    random = Random(seed)
    external = {name for name in "ab" if random.random() < 0.6}
    made = random_graph(seed, frozenset(external))
    center = world(made)
    before = {slice_: center.status(slice_).generation for slice_ in center.slices}
    roots = random.sample(center.slices, k=random.randint(1, 3))
    backfill = center.plan(roots)
    drain(center, lambda _: random.random() < 0.7)
    backfill = center.backfills[backfill.number]
    moved = {slice_ for slice_ in center.slices if center.status(slice_).generation > before[slice_]}
    said = {SliceProgress.REBUILT, SliceProgress.UNCHANGED}
    assert {slice_ for slice_, far in backfill.progress.items() if far in said} == moved
    given = {slice_ for slice_, member in backfill.plan.members.items() if member.is_given}
    assert {slice_ for slice_, far in backfill.progress.items() if far is SliceProgress.GIVEN} == given
    always = {
        slice_
        for slice_, member in backfill.plan.members.items()
        if member.policy is Reprocess.ALWAYS and any(used in given for used in member.inputs)
    }
    assert always <= moved


def test_same_content_stops_early_and_a_person_is_asked() -> None:
    center = chain("if_changed", "ask", "always")
    backfill = center.plan([first("a")])
    drain(center, lambda _: False)
    assert center.computed == [first("a")]
    assert backfill.progress[first("b")] is SliceProgress.KEPT
    asked = center.plan([first("b")])
    center.carry_out(asked)
    center.launch(first("b"))
    center.end(first("b"), Event.COMPLETED)
    center.carry_out(asked)
    center.carry_out(asked)
    assert (asked.progress[first("c")], center.status(first("c")).tainted) == (SliceProgress.ASKING, True)
    answer(center, asked, rebuild=False)
    drain(center)
    assert (center.computed[1:], center.status(first("c"))) == ([first("b")], THERE)


def test_a_failed_branch_stops_its_own_slices_only() -> None:
    center = world(graph(a="period: day", b="{period: day, depends_on: [a]}", c="{period: day, depends_on: [b]}",
                         d="{period: day, depends_on: [a]}"))  # fmt: skip
    backfill = center.plan([first("a")])
    center.exhausted.add(first("b"))
    for _ in range(8):
        center.carry_out(backfill)
        for slice_ in center.slices:
            if center.status(slice_).run_state in UNDER_WAY:
                center.end(slice_, Event.FAILED if slice_.entity == "b" else Event.COMPLETED)
            center.launch(slice_)
    assert {slice_.entity: progress for slice_, progress in backfill.progress.items()} == {
        "a": SliceProgress.REBUILT, "b": SliceProgress.FAILED, "c": SliceProgress.BLOCKED, "d": SliceProgress.REBUILT,
    }  # fmt: skip
    assert (backfill.phase, center.status(first("c"))) == (BackfillPhase.DONE, THERE)


def test_cancelling_restores_slices_that_had_not_started() -> None:
    center = chain()
    backfill = center.plan([Slice("a", day) for day in DAYS])
    center.carry_out(backfill)
    assert center.status(first("a")).run_state is RunState.WAITING
    center.launch(first("a"))
    backfill.phase = BackfillPhase.CANCELLING
    center.carry_out(backfill)
    assert center.status(Slice("a", DAYS[1])) == THERE
    center.end(first("a"), Event.COMPLETED)
    center.carry_out(backfill)
    assert (backfill.phase, center.status(first("a")).generation) == (BackfillPhase.CANCELLED, 2)
    assert center.status(first("b")).run_state is RunState.COMPLETED
    center.launch(first("b"))
    assert center.writers[first("b")] == 0


def test_the_second_of_two_backfills_waits_for_the_first_and_all_is_built_of_the_newest() -> None:
    center = chain()
    center.plan([first("a")])
    second = center.plan([first("b")])
    assert center.carry_out(second) == []
    drain(center)
    assert (second.phase, center.computed.count(first("b"))) == (BackfillPhase.DONE, 2)
    members = second.plan.members.values()
    assert all(center.has_read(member.slice, member.inputs) for member in members if member.inputs)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_rebuilt_that_the_reference_does_not_rebuild(seed: int) -> None:
    random = Random(seed)
    center = random_world(random)
    changed = {slice_: random.random() < 0.5 for slice_ in center.slices}
    roots = random.sample(center.slices, k=random.randint(1, 3))
    center.plan(roots)
    expected = rebuilt(center.graph, roots, center.slices, changed.__getitem__)
    drain(center, changed.__getitem__)
    assert sorted(center.computed) == sorted(expected)


def interleaving(seed: int) -> None:
    """One random sequence of runs, backfills, people and deaths; then everything comes to its end, and fits."""
    random = Random(seed)
    center = random_world(random)
    for _ in range(random.randint(8, 24)):
        one_thing(center, random)
    drain(center)
    for backfill in center.backfills.values():
        assert backfill.phase not in ACTIVE
        assert backfill.is_over
    assert not any(center.writers.values())
    assert not any(map(center.is_held, center.slices))
    assert all(center.status(slice_).run_state is not RunState.READY for slice_ in center.slices)


def one_thing(center: SimulatedCenter, random: Random) -> None:
    slice_, kind = random.choice(center.slices), random.randrange(12)
    backfill = random.choice(list(center.backfills.values())) if center.backfills else None
    if kind == 0 and len(center.backfills) < 3:
        center.plan(random.sample(center.slices, k=random.randint(1, 3)))
    elif kind == 1 and center.launch_by_hand(slice_):
        return
    elif kind == 2 and backfill and backfill.phase in ACTIVE:
        people(center, random)
    elif kind < 6 and backfill and backfill.phase in ACTIVE:
        dies = random.randint(0, 3) if random.random() < 0.2 else None
        center.carry_out(backfill, room=random.randint(1, 5), dies_after=dies)
    elif kind < 9 and (ready := [s for s in center.slices if center.status(s).run_state in _ASKED]):
        center.launch(random.choice(ready))
    elif busy := [s for s in center.slices if center.status(s).run_state in UNDER_WAY]:
        how = random.choice((Event.COMPLETED, Event.COMPLETED, Event.COMPLETED, Event.FAILED, Event.LOST))
        center.end(random.choice(busy), how, changed=random.random() < 0.6, exhausted=random.random() < 0.5)


_ASKED = (RunState.WAITING, RunState.READY)


def people(center: SimulatedCenter, random: Random) -> None:
    backfill = random.choice(list(center.backfills.values()))
    if backfill.phase is BackfillPhase.PAUSED:
        backfill.phase = BackfillPhase.RUNNING
    elif backfill.phase is BackfillPhase.RUNNING:
        backfill.phase = random.choice((BackfillPhase.PAUSED, BackfillPhase.CANCELLING))
    answer(center, backfill, rebuild=random.random() < 0.5)


@pytest.mark.slow
def test_no_slice_has_two_writers_whatever_comes_between() -> None:
    for seed in range(600):
        interleaving(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_no_slice_has_two_writers_in_100_000_interleavings(part: int) -> None:
    for seed in range(part * 10_000, (part + 1) * 10_000):
        interleaving(seed)


def test_the_simulation_finds_two_writers_where_nothing_keeps_them_apart() -> None:
    center = chain()
    center.writers[first("a")] = 1
    with pytest.raises(TwoWritersError):
        center.launch_by_hand(first("a"))

"""The index against the slow reference, over random histories; run as a module, for a hundred thousand steps."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.dependency_model.readiness.index_world import VARIANTS, index_world, variant
from tests.dependency_model.readiness.reference_index import ReferenceIndex
from tests.dependency_model.readiness.stored_index import StoredIndex
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.status import TRANSITIONS, Event, Quality, RunState, SliceStatus, apply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.slice import Slice


SINCE = datetime(2024, 6, 1, 22, tzinfo=UTC)
BEGIN, END = SINCE - timedelta(days=2), SINCE + timedelta(days=3)
DONE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
numbers = st.integers(0, 1 << 30)


class IndexMachine(RuleBasedStateMachine):
    """Whatever happens, and in whatever order it is told, the index decides what the reference does."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.graph = index_world()
        self.reference = ReferenceIndex(self.graph, SINCE, SINCE)
        self.index = ReadinessIndex(self.graph, SINCE, SINCE)
        self.version = 0
        self.told: dict[Slice, int] = {}
        self.stored = StoredIndex()

    @rule(which=numbers, what=numbers)
    def report(self, which: int, what: int) -> None:
        """Anything that the table has for a slice: a failure, a taint, a backfill, a retry, ..."""
        slice_ = self._piece(which)
        self._tell(slice_, self._after(slice_, what))

    @rule(which=numbers, gap=numbers)
    def inputs_arrive(self, which: int, gap: int) -> None:
        """All inputs of a slice, or all but one."""
        slice_ = self._piece(which)
        clauses = [
            need for state in self.graph.entity(slice_.entity).state_names for need in self._needs(slice_, state)
        ]
        for number, clause in enumerate(clauses):
            if gap % 3 or number != gap % len(clauses):
                self._tell(clause, DONE)

    @rule(which=numbers)
    def completes(self, which: int) -> None:
        self._tell(self._piece(which), DONE)

    @rule(which=numbers, what=numbers)
    def told_twice(self, which: int, what: int) -> None:
        """A duplicate, or an old report that says something else."""
        if self.told:
            slice_ = sorted(self.told)[which % len(self.told)]
            self.index.observe(slice_, self._after(slice_, what), self.told[slice_])

    @rule(which=numbers, first=numbers, second=numbers)
    def told_in_the_wrong_order(self, which: int, first: int, second: int) -> None:
        slice_ = self._piece(which)
        overtaken = self._after(slice_, first)
        self.version += 1
        version = self.version
        self.reference.statuses[slice_] = overtaken
        self._tell(slice_, self._after(slice_, second))
        self.index.observe(slice_, overtaken, version)

    @rule(minutes=st.sampled_from([1, 7, 60, 180, 600]), limit=st.sampled_from([None, 1, 50]))
    def clock_goes_on(self, minutes: int, limit: int | None) -> None:
        """Earliest times come, time-outs are over; bit by bit as well."""
        now = min(self.reference.now + timedelta(minutes=minutes), END)
        self.reference.now = now
        while not self.index.advance(now, limit):
            pass

    @rule(hours=st.sampled_from([1, 30]), limit=st.sampled_from([1, 20]))
    def prepares(self, hours: int, limit: int) -> None:
        self.index.prepare(self.reference.now + timedelta(hours=hours), limit)

    @rule(hours=st.sampled_from([0, 3, 40]), most=st.sampled_from([1, 5, 1_000]))
    def is_noted(self, hours: int, most: int) -> None:
        """A part of a checkpoint, or all of it."""
        checkpoint = self.index.checkpoint(self.reference.now - timedelta(hours=hours), most)
        if checkpoint:
            self.stored.note(checkpoint)
            self.index.note_checkpoint(checkpoint)

    @rule(hours=st.sampled_from([None, -30, 0, 2, 30]), seed=numbers)
    def restarts(self, hours: int | None, seed: int) -> None:
        """Built again from what is open or near in time, in any order; the rest stays in the archive."""
        now = self.reference.now
        self._restart("" if hours is None else f"{now - timedelta(hours=hours):%Y-%m-%d}", seed)
        self.index.advance(now)

    @rule(name=st.sampled_from(sorted(VARIANTS)), number=numbers)
    def entity_is_added_or_changed(self, name: str, number: int) -> None:
        changed = variant(name, number)
        if name in self.graph and self.graph.entity(name) == changed:
            return
        touched = {name, *self._users(name)}
        self.graph.put(changed)
        for slice_ in [slice_ for slice_ in self.told if slice_.entity == name]:  # another period has other slices
            del self.told[slice_], self.reference.statuses[slice_]
        self.stored.forget(name)
        self._restart("", 0)
        self.index.refresh(touched | set(self._users(name)))

    @invariant()
    def decides_what_the_reference_decides(self) -> None:
        IndexMachine.steps += 1
        expected = self.reference.expected_changes()
        result = {
            decision.slice: (decision.event, decision.state, decision.partial) for decision in self.index.decide()
        }
        assert result == expected
        for slice_, (event, _, _) in result.items():
            self._tell(slice_, apply(self.reference.status(slice_), event))
        assert self.index.decide() == []

    def _restart(self, floor: str, seed: int) -> None:
        known = {slice_: (status, self.told[slice_]) for slice_, status in self.reference.statuses.items()}
        self.stored.known, self.stored.floor = known, floor
        loaded = self.stored.load()
        random.Random(seed).shuffle(loaded)
        self.index = ReadinessIndex(self.graph, SINCE, self.reference.now, self.stored, self.stored.progress)
        self.index.load(loaded)

    def _piece(self, number: int) -> Slice:
        """A slice around the present, of any entity."""
        names = sorted(self.graph)
        name, moment = names[number % len(names)], BEGIN + (END - BEGIN) * ((number >> 8) % 997) / 997
        subs = sorted({(), *self.graph.node(name).subs})
        return self.graph.slice_at(name, moment, subs[(number >> 20) % len(subs)])

    def _after(self, slice_: Slice, number: int) -> SliceStatus:
        """The status after one of the events that may come now."""
        status = self.reference.status(slice_)
        never = _DECIDED if status.generation > 1 else (*_DECIDED, Event.RESTORED)
        possible = [row.event for row in TRANSITIONS if status.run_state in row.run_states and row.event not in never]
        state = "estimated" if number % 2 else None
        event = possible[number % len(possible)]
        before = replace(DONE, generation=status.generation - 1)
        return apply(status, event, cause=slice_, state=state if event is Event.REACHED else None, before=before)

    def _tell(self, slice_: Slice, status: SliceStatus) -> None:
        self.version += 1
        self.told[slice_] = self.version
        self.reference.statuses[slice_] = status
        self.index.observe(slice_, status, self.version)

    def _needs(self, slice_: Slice, state: str) -> Iterator[Slice]:
        for requirement in self.graph.requirements(slice_, state):
            yield from requirement.slices

    def _users(self, name: str) -> list[str]:
        return [edge.down.name for edge in self.graph.downstream_edges(name)] if name in self.graph else []


_DECIDED = (Event.RELEASED, Event.WITHDRAWN)


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        IndexMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_the_index_agrees_with_the_reference() -> None:
    run(examples=60, steps=50)


@pytest.mark.long
@pytest.mark.timeout(7_200)
def test_the_same_over_a_hundred_thousand_steps() -> None:
    before = IndexMachine.steps
    run(examples=2_200, steps=50)
    assert IndexMachine.steps - before >= 100_000


if __name__ == "__main__":
    run(examples=int(sys.argv[1]) if len(sys.argv) > 1 else 2_200, steps=50)
    sys.stdout.write(f"{IndexMachine.steps} steps, no difference\n")

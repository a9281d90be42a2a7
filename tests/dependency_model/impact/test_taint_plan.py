"""A taint follows the recorded inputs, and the graph only without them; compared with a fixpoint over all pairs."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.dependency_model.impact.test_closure import SERIES
from tests.dependency_model.world import graph
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.impact.taint_plan import taint_plan
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus

WORLD = graph(**SERIES)
UNTIL = datetime(2024, 4, 20, tzinfo=UTC)
HOUR, OTHER_HOUR = Slice("clicks", "2024-03-28T15"), Slice("clicks", "2024-03-28T16")
DAY, WEEK = Slice("daily", "2024-03-28"), Slice("weekly", "2024-03-25")
DOWN = list(downstream_closure(WORLD, [HOUR], UNTIL))


def there(generation: int = 1, *, tainted: bool = False) -> SliceStatus:
    return SliceStatus(
        RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED, tainted=tainted, generation=generation
    )


def test_without_recorded_inputs_the_graph_gives_them() -> None:
    plan = taint_plan(WORLD, [HOUR], DOWN, dict.fromkeys([HOUR, *DOWN], there()), {})
    assert set(plan.marked) == {HOUR, *DOWN}
    assert (plan.marked[HOUR], plan.marked[DAY], plan.marked[WEEK]) == (HOUR, HOUR, DAY)


def test_readers_of_an_earlier_generation_or_without_the_input_are_not_tainted() -> None:
    statuses = dict.fromkeys([HOUR, *DOWN], there()) | {HOUR: there(2)}
    earlier = taint_plan(WORLD, [HOUR], DOWN, statuses, {DAY: [(HOUR, 1)]})
    assert (set(earlier.marked), set(earlier.left_alone)) == ({HOUR}, set(DOWN))
    without = taint_plan(WORLD, [HOUR], DOWN, statuses, {DAY: [(OTHER_HOUR, 1)]})
    assert set(without.marked) == {HOUR}
    same = taint_plan(WORLD, [HOUR], DOWN, statuses, {DAY: [(HOUR, 2)], WEEK: []})
    assert DAY in same.marked
    assert WEEK in same.left_alone


def test_tainted_and_absent_slices_are_distinguished_and_followed() -> None:
    statuses = dict.fromkeys(DOWN, there()) | {DAY: there(tainted=True)}
    plan = taint_plan(WORLD, [HOUR], DOWN, statuses, {})
    assert (plan.absent, plan.known) == ((HOUR,), (DAY,))
    assert WEEK in plan.marked


def test_an_older_slice_that_would_do_counts_as_read() -> None:
    world = graph(
        a="{period: day, start: 2024-03-01}",
        b="{period: day, start: 2024-03-01, depends_on: [{entity: a, offset: last_available}]}",
    )
    cause, users = Slice("a", "2024-03-28"), [Slice("b", "2024-03-28"), Slice("b", "2024-04-02")]
    plan = taint_plan(world, [cause], users, dict.fromkeys([cause, *users], there()), {})
    assert set(plan.marked) == {cause, *users}


@hypothesis_settings(max_examples=150, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_the_plan_equals_a_fixpoint_over_all_pairs(seed: int) -> None:
    random = Random(seed)
    slices = [HOUR, *DOWN]
    statuses = {slice_: there(random.randint(1, 2)) for slice_ in slices}
    reads = {
        slice_: [(read, random.randint(1, 2)) for read in random.sample(slices, k=random.randint(0, 4))]
        for slice_ in DOWN
    }
    wrong, before = {HOUR}, set[Slice]()
    while wrong != before:
        before = set(wrong)
        for reader, told in reads.items():
            if any(read in wrong and statuses[read].generation == generation for read, generation in told):
                wrong.add(reader)
    assert set(taint_plan(WORLD, [HOUR], DOWN, statuses, reads).marked) == wrong

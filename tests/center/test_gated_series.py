"""Gating and flags of a series under any interleaving of deliveries, runs, crashes and results of rules (C9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.center.gated_series import SERIES, SLICES, GatedSeries, overlap
from tidemark.dependency_model.status import Quality, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.dependency_model.slice import Slice

numbers = st.integers(0, 99)
steps = st.lists(st.tuples(numbers, numbers, st.sampled_from((None, *SERIES))), max_size=60)


def act(world: GatedSeries, which: int, number: int, broken: str | None) -> None:
    """One of the acts that are possible, on one of the slices that it can be done to."""
    acts: list[tuple[Callable[[Slice], None], Sequence[Slice]]] = [
        (lambda day: world.deliver(day, broken), list(world.latest)),
        (world.launch, world.in_state(RunState.READY)),
        (lambda slice_: world.end(slice_, audited=True), list(world.under_way)),
        (lambda slice_: world.end(slice_, audited=False), list(world.under_way)),
        (world.crash, list(world.under_way)),
        (world.judge, list(world.unjudged)),
        (world.retry, [slice_ for slice_ in world.in_state(RunState.FAILED) if slice_ not in world.raised]),
        (world.ignore, [s for s in world.in_state(RunState.COMPLETED) if world.status(s).quality is Quality.FAILED]),
        (world.ask_for, world.in_state(RunState.COMPLETED)),
        (world.keep, [slice_ for slice_ in world.in_state(RunState.COMPLETED) if world.is_to_be_asked(slice_)]),
    ]
    possible = [(do, slices) for do, slices in acts if slices]
    do, slices = possible[which % len(possible)]
    do(slices[number % len(slices)])


def check(world: GatedSeries) -> None:
    for slice_ in SLICES:
        status = world.status(slice_)
        assert status.issues == world.flags(slice_), slice_
        if status.run_state in (RunState.WAITING, RunState.READY):
            assert (status.run_state is RunState.READY) is world.may_start(slice_), slice_
    assert list(world.wrong_rows()) == []
    assert list(world.doubtful()) == []
    assert list(world.asks_in_vain()) == []


@settings(max_examples=60, deadline=None)
@given(st.booleans(), steps)
def test_a_slice_starts_exactly_when_its_inputs_are_good_and_everything_heals(
    is_there: bool,
    history: list[tuple[int, int, str | None]],
) -> None:
    world = GatedSeries()
    if is_there:
        world.settle()
    for which, number, broken in history:
        act(world, which, number, broken)
        check(world)
    world.heal()
    check(world)
    assert world.raised == set()
    assert {slice_: world.status(slice_).valid for slice_ in SLICES} == dict.fromkeys(SLICES, True)
    kept = [slice_ for slice_ in SLICES if slice_.entity in ("never", "later")]
    for slice_ in SLICES:
        days = [world.latest[day] for day in world.latest if overlap(day, slice_)]
        assert slice_ in kept or world.held[slice_] == frozenset(days), slice_

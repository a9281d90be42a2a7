"""Gating and flags of a series under any interleaving of deliveries, runs, crashes and results of rules (C9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
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


@pytest.mark.slow
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
    kept = {slice_ for slice_ in SLICES if slice_.entity in ("never", "later")} | world.kept
    for slice_ in SLICES:
        days = [world.latest[day] for day in world.latest if overlap(day, slice_)]
        assert slice_ in kept or world.held[slice_] == frozenset(days), slice_


def test_who_read_rows_before_they_were_announced_is_not_asked() -> None:
    world = GatedSeries()
    day = next(iter(world.latest))
    loose = next(slice_ for slice_ in SLICES if slice_.entity == "loose" and overlap(slice_, day))
    world.launch(day)
    world.end(day, audited=False)
    world.deliver(day, None)
    for slice_ in (day, loose):
        world.launch(slice_)
        world.end(slice_, audited=False)
    world.judge(day)
    check(world)
    assert (world.status(loose).valid, world.status(loose).generation) == (True, 1)


def march(world: GatedSeries, *, audited: bool) -> None:
    """Everything that can be done without a person, step by step; what breaks its rule stays as it is."""
    for _ in range(300):
        if world.unjudged:
            world.judge(next(iter(world.unjudged)))
        elif world.under_way:
            world.end(next(iter(world.under_way)), audited=audited)
        elif ready := world.in_state(RunState.READY):
            world.launch(ready[0])
        else:
            return
        check(world)
    raise AssertionError("it does not come to an end")


@pytest.mark.parametrize("broken", SERIES)
@pytest.mark.parametrize("audited", [True, False], ids=["refused", "published"])
@pytest.mark.parametrize("is_there", [True, False], ids=["rebuilt", "first"])
def test_a_broken_rule_of_each_period_holds_what_it_reaches_until_it_is_healed(
    broken: str, *, audited: bool, is_there: bool
) -> None:
    world = GatedSeries()
    if is_there:
        world.settle()
    day = next(iter(world.latest))
    world.deliver(day, broken)
    march(world, audited=audited)
    assert {slice_.entity for slice_ in world.raised} == {broken}
    world.deliver(day, None)
    march(world, audited=audited)
    world.heal()
    check(world)
    assert all(world.status(slice_).valid for slice_ in SLICES)


def test_rows_that_were_never_judged_are_news_when_they_are_computed_again() -> None:
    world = GatedSeries()
    world.settle()
    day = next(iter(world.latest))
    world.deliver(day, None)
    world.launch(day)
    world.end(day, audited=False)
    world.ask_for(day)
    march(world, audited=True)
    readers = {
        slice_.entity: slice_ for slice_ in SLICES if slice_.entity in ("if_changed", "ask") and overlap(slice_, day)
    }
    assert world.status(readers["if_changed"]).generation == 2
    assert world.status(readers["ask"]).tainted


@pytest.mark.parametrize("is_late", [True, False])
def test_the_same_rows_once_more_do_not_answer_for_a_person(*, is_late: bool) -> None:
    """The question is about the rows before: of a day that changed since they were read, or while they were."""
    world = GatedSeries()
    world.settle()
    day = next(iter(world.latest))
    asked = next(slice_ for slice_ in SLICES if slice_.entity == "ask" and overlap(slice_, day))
    if is_late:
        world.ask_for(asked)
        world.launch(asked)
    world.deliver(day, None)
    world.launch(day)
    world.end(day, audited=True)
    world.judge(day)
    if is_late:
        world.end(asked, audited=True)
    assert world.status(asked).tainted
    world.ask_for(day)
    march(world, audited=True)
    assert world.status(asked).tainted
    world.keep(asked)
    check(world)
    assert world.status(asked).valid


def test_who_has_two_bad_inputs_is_good_once_both_are() -> None:
    world = GatedSeries()
    world.settle()
    first, second = list(world.latest)[:2]
    for day in (first, second):
        world.condemn(day)
        check(world)
    for day in (first, second):
        world.ignore(day)
        check(world)
    march(world, audited=True)
    assert all(world.status(slice_).valid for slice_ in SLICES)


def test_who_is_to_be_asked_is_left_alone_until_somebody_answers() -> None:
    """Neither a rebuild with other rows nor flags that come and go answer for a person."""
    world = GatedSeries()
    world.settle()
    day = next(iter(world.latest))
    asked = next(slice_ for slice_ in SLICES if slice_.entity == "ask" and overlap(slice_, day))
    held = world.held[asked]
    world.deliver(day, None)
    march(world, audited=True)
    assert (world.status(asked).tainted, world.status(asked).generation, world.held[asked]) == (True, 1, held)
    month = next(slice_ for slice_ in SLICES if slice_.entity == "month" and overlap(slice_, day))
    world.condemn(month)
    check(world)
    world.ignore(month)
    march(world, audited=True)
    assert world.status(asked).tainted
    world.keep(asked)
    check(world)
    assert (world.status(asked).valid, world.held[asked]) == (True, held)
    world.ask_for(day)
    march(world, audited=True)
    assert world.status(asked).valid, "the same rows are no question"

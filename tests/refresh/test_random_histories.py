"""Whatever happens to slices and to the target, in any order: what holds in the end, and what never happened."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import date, timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refresh.world import AGAIN, RefreshedProject
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState
from tidemark.errors import TransitionError

if TYPE_CHECKING:
    from tidemark.refresh.refreshed_slice import RefreshedSlice

_DAYS = count()
"""Each example has days of its own."""
_EVENTS = (
    *("tainted", "kept") * 4,
    *(AGAIN, "backfill_requested", "quality_failed", "quality_passed", "deleted", "overwritten", "recovered"),
)


class _DiesAtRandom(BaseException):
    """As a process does."""


class _Cache:
    """Holds for each slice the generation that it was filled of, from the rows that are there then.

    It takes what it is asked for before it breaks off, after it, or not at all.
    """

    def __init__(self, project: RefreshedProject, chance: random.Random) -> None:
        self._project, self._chance = project, chance
        self.filled: dict[Slice, int | None] = {}
        self.asked: list[tuple[Slice, int, int]] = []
        self.is_calm = False

    def deliver(self, refreshed: RefreshedSlice) -> None:
        trouble = "" if self.is_calm else self._chance.choice(("", "", "down", "dies", "taken and dies"))
        if trouble == "down":
            self._project.target.is_down = True
            self._project.target.deliver(refreshed)
        if trouble == "dies":
            raise _DiesAtRandom
        standing = refreshed.standing
        self.asked.append((refreshed.slice, standing.generation, standing.seq))
        self.filled[refreshed.slice] = standing.generation if standing.action.value == "refresh" else None
        if trouble == "taken and dies":
            raise _DiesAtRandom


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RefreshedProject:
    return RefreshedProject.at(tmp_path_factory.mktemp("refreshed"))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_in_the_end_each_target_has_the_present_state_in_order(project: RefreshedProject, seed: int) -> None:
    chance, cache = random.Random(seed), _Cache(project, random.Random(seed))
    slices = [Slice("sales", str(date(2026, 3, 28) + timedelta(days=next(_DAYS)))) for _ in range(2)]
    changed = set[Slice]()
    for _ in range(chance.randint(4, 14)):
        changed |= _happens(project, chance, chance.choice(slices))
        if chance.random() < 0.6:
            with suppress(_DiesAtRandom):
                project.refresh(adapter=cache)
    cache.is_calm = True
    project.refresh(adapter=cache)
    asked = len(cache.asked)
    project.refresh(adapter=cache)
    assert len(cache.asked) == asked
    assert {slice_ for slice_, _, _ in cache.asked} <= changed
    for current in project.store.read.currents(slices):
        status, held = current.status, cache.filled.get(current.slice)
        if status.valid and status.quality is Quality.PASSED:
            assert held == status.generation
        elif status.run_state is RunState.ABSENT or (status.run_state is RunState.COMPLETED and status.is_flawed):
            assert held is None
    for slice_ in slices:
        seqs = [seq for other, _, seq in cache.asked if other == slice_]
        assert seqs == sorted(seqs)


def _happens(project: RefreshedProject, chance: random.Random, slice_: Slice) -> set[Slice]:
    """One of the events, if it can come; the slice that changed."""
    if project.store.read.current(slice_) is None:
        return {project.complete(slice_.key)}
    try:
        project.happen(slice_, chance.choice(_EVENTS))
    except TransitionError:
        return set()
    return {slice_}

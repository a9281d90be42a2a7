"""A complete slice tells which of its inputs were computed again since, and why it was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.api.later_inputs import later_inputs
from tidemark.dependency_model.backfill.progress import BackfillAction
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

LATER = f"trips@{DAY} has generation 2 now, and this slice read generation 1"


def world_of(folder: Path, policy: str) -> ChangingWorld:
    fares = f"{{period: day, reprocess: {policy}, depends_on: [trips]}}"
    city = "{period: day, depends_on: [fares]}"
    world = ChangingWorld(folder, {"trips": "{period: day}", "fares": fares, "city": city})
    world.settle()
    return world


def told(world: ChangingWorld, name: str) -> list[str]:
    return later_inputs(world.store, Slice(name, DAY), world.graph.entity(name).reprocess)


def test_a_slice_that_follows_its_inputs_has_none(tmp_path: Path) -> None:
    world = world_of(tmp_path, "always")
    world.tell(f"trips@{DAY}", "backfill_requested")
    assert told(world, "fares") == []
    world.settle()
    assert [told(world, name) for name in ("trips", "fares", "city")] == [[], [], []]


@pytest.mark.parametrize(
    ("policy", "why"), [("never", "reprocess: never"), ("ask", "a person decides"), ("if_changed", "if the rows have")]
)
def test_a_policy_that_keeps_a_slice_is_named(tmp_path: Path, policy: str, why: str) -> None:
    world = world_of(tmp_path, policy)
    world.tell(f"trips@{DAY}", "backfill_requested")
    world.step()
    run, _ = world.center.under_way()[Slice("trips", DAY)]
    world.tell(f"trips@{DAY}", "completed", run, changed=policy != "if_changed")
    (words,) = told(world, "fares")
    assert words.startswith(f"{LATER}: ")
    assert why in words
    assert told(world, "city") == []


def test_a_slice_that_an_earlier_policy_kept_says_so(tmp_path: Path) -> None:
    world = world_of(tmp_path, "never")
    world.tell(f"trips@{DAY}", "backfill_requested")
    world.settle()
    assert told(world, "fares")
    always = "{period: day, reprocess: always, depends_on: [trips]}"
    world.declare({"trips": "{period: day}", "fares": always, "city": "{period: day, depends_on: [fares]}"})
    assert world.settle() == []
    assert told(world, "fares") == [f"{LATER}: a person or an earlier policy kept this slice"]


def test_a_backfill_that_was_cancelled_is_named(tmp_path: Path) -> None:
    world = world_of(tmp_path, "always")
    number = world.backfill(f"trips@{DAY}")
    world.step()
    world.act(number, BackfillAction.CANCEL)
    world.settle()
    assert told(world, "fares") == [f"{LATER}: backfill {number} was cancelled before it came to this slice"]
    world.tell(f"fares@{DAY}", "backfill_requested")
    world.settle()
    assert told(world, "fares") == []


def test_of_many_the_first_ones_are_named(tmp_path: Path) -> None:
    hours = f"{{period: hour, start: '{DAY}T00', end: '{DAY}T08'}}"
    daily = "{period: day, end: 2031-05-06, reprocess: never, depends_on: [hours]}"
    world = ChangingWorld(tmp_path, {"hours": hours, "daily": daily})
    world.settle()
    for hour in range(8):
        world.tell(f"hours@{DAY}T{hour:02}", "backfill_requested")
    world.settle()
    words = later_inputs(world.store, Slice("daily", DAY), Reprocess.NEVER)
    assert (len(words), words[-1]) == (6, "and 3 more inputs")

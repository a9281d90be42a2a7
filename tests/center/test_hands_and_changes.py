"""What is open when people act or a project changes: backfills, questions, retries, runs of other schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

A_DAY: Final = "{period: day}"
CHAIN: Final = {
    "trips": A_DAY,
    "fares": "{period: day, depends_on: [trips]}",
    "city": "{period: day, depends_on: [fares]}",
}


def reads(world: ChangingWorld, name: str) -> dict[str, int]:
    slice_ = Slice(name, DAY)
    return {str(used): generation for used, generation in world.store.read.reads([slice_]).get(slice_) or ()}


MEANWHILE: Final = (
    "again",
    "again again",
    "tainted again",
    "deleted again",
    "tainted",
    "overwritten",
    "quality_failed",
)


@pytest.mark.parametrize("policy", ["always", "ask", "if_changed", "never"])
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_a_run_of_another_scheduler_that_reports_no_inputs_misses_none(
    tmp_path: Path, meanwhile: str, policy: str
) -> None:
    world = ChangingWorld(tmp_path, {**CHAIN, "fares": f"{{period: day, reprocess: {policy}, depends_on: [trips]}}"})
    world.settle()
    world.tell(f"fares@{DAY}", "started", run="airflow 1")
    for event in meanwhile.split():
        world.later(seconds=1)
        world.tell(f"trips@{DAY}", "backfill_requested" if event == "again" else event)
        if world.step():
            world.end(f"trips@{DAY}")
    world.later(seconds=1)
    world.tell(f"fares@{DAY}", "completed", run="airflow 1")
    is_asked_again = f"fares@{DAY}" in world.settle()
    is_input_bad = not meanwhile.endswith("again")
    assert world.status(f"fares@{DAY}").tainted == (is_input_bad or policy == "ask")
    assert is_asked_again == (not is_input_bad and policy in ("always", "if_changed"))
    assert world.step() == []


def test_what_nobody_changed_meanwhile_is_not_computed_again(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    world.tell(f"trips@{DAY}", "backfill_requested")
    world.step()
    world.end(f"trips@{DAY}")
    world.tell(f"fares@{DAY}", "started", run="airflow 1")
    world.tell(f"trips@{DAY}", "quality_failed")
    world.tell(f"trips@{DAY}", "quality_ignored")
    world.later(seconds=1)
    world.tell(f"fares@{DAY}", "completed", run="airflow 1")
    assert world.settle() == [f"city@{DAY}"]


OUTSIDE: Final = {
    "raw": "{period: day, kind: Virtual}",
    "clean": "{period: day, depends_on: [raw]}",
    "kpi": "{period: day, depends_on: [clean]}",
}


@pytest.mark.parametrize(
    "course",
    [
        "observed / deleted observed",
        "observed / deleted deleted observed",
        "deleted observed",
        "observed / deleted / completed",
        "observed launch deleted observed end",
        "observed launch deleted end observed",
        "observed / deleted backfill_requested observed",
        "observed / backfill_requested deleted observed",
        "observed / deleted restart observed",
        "observed / tainted deleted observed",
        "observed / failed observed",
        "observed / started failed completed",
        "observed / deleted started failed started completed",
        "observed / started lost observed",
    ],
)
def test_data_of_others_in_any_course_ends_with_readers_of_what_is_there(tmp_path: Path, course: str) -> None:
    world = ChangingWorld(tmp_path, OUTSIDE)
    for word in course.split():
        world.later(seconds=1)
        if word == "/":
            world.settle()
        elif word == "launch":
            world.step()
        elif word == "restart":
            world.declare(OUTSIDE)
        elif word == "end":
            world.end(f"clean@{DAY}")
        else:
            world.tell(f"raw@{DAY}", word)
    world.settle()
    for name in ("clean", "kpi"):
        assert world.status(f"{name}@{DAY}").valid
        assert all(world.status(used).generation == read for used, read in reads(world, name).items())

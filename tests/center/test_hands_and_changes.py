"""Work that is open when people act or a project changes: backfills, questions, retries, runs of other schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.dependency_model.backfill.progress import BackfillAction
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.backfills import Backfills

if TYPE_CHECKING:
    from pathlib import Path

A_DAY: Final = "{period: day}"
CHAIN: Final = {
    "trips": A_DAY,
    "fares": "{period: day, depends_on: [trips]}",
    "city": "{period: day, depends_on: [fares]}",
}
GROSS: Final = "{period: day, start: 2031-05-06, depends_on: [trips]}"
CHANGED: Final = {
    "renamed, with a later start": {"trips": A_DAY, "gross": GROSS, "city": "{period: day, depends_on: [gross]}"},
    "hours": {**CHAIN, "fares": "{period: hour, depends_on: [trips]}"},
    "snapshots": {**CHAIN, "fares": "{period: day, kind: Snapshot, depends_on: [trips]}"},
    "of others": {**CHAIN, "fares": "{period: day, kind: Virtual}"},
    "ended before": {**CHAIN, "city": "{period: day, end: 2031-05-05, start: 2031-05-01, depends_on: [fares]}"},
    "in parts": {**CHAIN, "fares": "{period: day, sub_partitions: {region: [eu]}, depends_on: [trips]}"},
    "nothing of it": {"other": A_DAY},
}


def reads(world: ChangingWorld, name: str) -> dict[str, int]:
    slice_ = Slice(name, DAY)
    return {str(used): generation for used, generation in world.store.read.reads([slice_]).get(slice_) or ()}


@pytest.mark.parametrize("do", ["go on", "pause", "cancel"])
@pytest.mark.parametrize("change", CHANGED)
def test_an_open_backfill_meets_a_changed_project(tmp_path: Path, change: str, do: str) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.backfill(f"trips@{DAY}")
    world.step()
    world.end(f"trips@{DAY}")
    assert world.step() == [f"fares@{DAY}"]
    if do == "pause":
        world.act(number, BackfillAction.PAUSE)
    world.declare(CHANGED[change])
    if do == "cancel":
        world.act(number, BackfillAction.CANCEL)
    world.settle()
    if do == "pause" and world.phase(number) == "paused":
        world.act(number, BackfillAction.RESUME)
        world.settle()
    assert world.phase(number) == ("cancelled" if do == "cancel" else "done")
    assert world.step() == []
    if do != "cancel" and world.graph.has(Slice("city", DAY)):
        for used, generation in reads(world, "city").items():
            assert not world.graph.has(Slice.parse(used)) or world.status(used).generation == generation


@pytest.mark.parametrize("change", ["in parts", "of others"])
def test_a_launch_that_no_run_has_is_given_back_when_the_slice_has_no_run_now(tmp_path: Path, change: str) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.step()
    world.end(f"trips@{DAY}")
    world.runs.is_down = True
    world.step()
    assert world.status(f"fares@{DAY}").run_state is RunState.LAUNCHED
    number = world.backfill(f"fares@{DAY}")
    world.step()
    world.declare(CHANGED[change])
    world.runs.is_down = False
    world.step()
    assert world.status(f"fares@{DAY}").run_state is not RunState.LAUNCHED
    world.settle()
    assert world.phase(number) == "done"


@pytest.mark.parametrize(
    ("before", "now", "generation"),
    [
        ("never", "always", 2),
        ("always", "never", 1),
        ("ask", "always", 2),
        ("if_changed", "never", 1),
        ("always", "ask", 1),
    ],
)
def test_a_backfill_goes_by_the_policy_of_today(tmp_path: Path, before: str, now: str, generation: int) -> None:
    def project(policy: str) -> dict[str, str]:
        return {**CHAIN, "fares": f"{{period: day, reprocess: {policy}, depends_on: [trips]}}"}

    world = ChangingWorld(tmp_path, project(before))
    world.settle()
    world.backfill(f"trips@{DAY}")
    world.step()
    world.declare(project(now))
    world.settle()
    assert world.generation("fares") == world.generation("city") == generation


def test_a_retry_of_a_slice_that_has_another_period_now_waits_until_it_is_back(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.step()
    world.end(f"trips@{DAY}", "failed")
    world.declare({"trips": f"{{period: hour, start: '{DAY}T00', end: '{DAY}T02'}}"})
    world.later(minutes=6)
    assert world.settle() == [f"trips@{DAY}T00", f"trips@{DAY}T01"]
    world.declare(CHAIN)
    assert world.settle() == [f"{name}@{DAY}" for name in CHAIN]


@pytest.mark.parametrize("policy", ["always", "if_changed", "never"])
def test_a_question_stays_one_when_the_policy_changes_and_an_answer_ends_it(tmp_path: Path, policy: str) -> None:
    fares = "{{period: day, reprocess: {}, depends_on: [trips]}}"
    world = ChangingWorld(tmp_path, {**CHAIN, "fares": fares.format("ask")})
    world.settle()
    world.tell(f"trips@{DAY}", "backfill_requested")
    world.settle()
    world.declare({**CHAIN, "fares": fares.format(policy)})
    assert world.settle() == []
    assert world.status(f"fares@{DAY}").asked
    world.tell(f"fares@{DAY}", "backfill_requested")
    assert world.settle() == [f"fares@{DAY}", f"city@{DAY}"]
    assert not world.status(f"city@{DAY}").tainted


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


@pytest.mark.parametrize("policy", ["always", "never"])
@pytest.mark.parametrize("state", ["ready", "launched", "failed", "cancelled", "pending in a backfill"])
def test_needs_that_grow_reach_a_slice_in_any_state(tmp_path: Path, state: str, policy: str) -> None:
    def project(more: str) -> dict[str, str]:
        return {"a": A_DAY, "b": A_DAY, "c": f"{{period: day, reprocess: {policy}, depends_on: [a{more}]}}"}

    world, c = ChangingWorld(tmp_path, project("")), f"c@{DAY}"
    world.settle()
    if state == "pending in a backfill":
        world.backfill(f"a@{DAY}")
        world.step()
    else:
        world.tell(c, "backfill_requested")
        world.center.tick()
        if state != "ready":
            world.step()
        if state in ("failed", "cancelled"):
            world.end(c, state)
    world.declare(project(", b"))
    world.later(minutes=6)
    world.settle()
    if state == "cancelled":
        world.tell(c, "retried")
        world.settle()
    status = world.status(c)
    assert status.run_state.value == "completed"
    assert f"b@{DAY}" in reads(world, "c") or status.tainted or "partial" in status.states


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


BOARD: Final = "{period: day, ready_by: '02:00', depends_on: [{entity: balance, offset: 'Set -1,0'}]}"
PROMISED: Final = {
    "pings": "{period: hour, start: 2031-05-05T00}",
    "raw": A_DAY,
    "balance": "{period: day, depends_on: [raw]}",
    "board": BOARD,
}


@pytest.mark.parametrize("is_tainted", [True, False])
def test_urgency_reaches_two_levels_up_through_slices_that_are_there(tmp_path: Path, *, is_tainted: bool) -> None:
    world = ChangingWorld(tmp_path, PROMISED, pools="default=2")
    world.later(hours=-11)
    world.settle(200)
    if is_tainted:
        world.tell(f"raw@{DAY}", "tainted")
    world.backfill(f"raw@{DAY}")
    world.later(hours=24)
    assert f"raw@{DAY}" in world.step()
    world.end(f"raw@{DAY}")
    assert f"balance@{DAY}" in world.step()


@pytest.mark.parametrize("end", ["failed", "cancelled", "lost", "interrupted"])
def test_what_ends_badly_after_its_backfill_was_cancelled_starts_nothing(tmp_path: Path, end: str) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.backfill(f"trips@{DAY}")
    world.step()
    world.act(number, BackfillAction.CANCEL)
    world.step()
    world.end(f"trips@{DAY}", end)
    assert world.step() == []
    world.later(hours=1)
    assert world.step() == []
    assert (world.phase(number), world.state("trips"), world.generation("trips")) == ("cancelled", "completed", 1)


@pytest.mark.parametrize("end", ["refused", "interrupted", "lost", "failed", "deleted after its end", "cancelled"])
def test_a_slice_whose_run_of_a_dagster_backfill_has_no_result_is_launched_and_reaches_its_readers(
    tmp_path: Path, end: str
) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.dagster_backfill(f"trips@{DAY}", f"fares@{DAY}")
    world.step()
    for name in ("trips", "fares"):
        world.later(seconds=1)
        world.tell(f"{name}@{DAY}", "started", f"dagster {name}")
        world.tell(f"{name}@{DAY}", "completed" if name == "trips" or " " in end else end, f"dagster {name}")
    if " " in end:
        world.tell(f"fares@{DAY}", "deleted")
    world.settle()
    world.later(minutes=6)
    if end == "cancelled":
        assert world.state("fares") == "failed"
        world.tell(f"fares@{DAY}", "retried")
    if " " in end:
        world.tell(f"fares@{DAY}", "backfill_requested")
    world.settle()
    assert (world.phase(number), world.state("fares"), world.step()) == ("done", "completed", [])
    assert reads(world, "city")[f"fares@{DAY}"] == world.generation("fares")


@pytest.mark.parametrize("lost", ["deleted", "overwritten"])
def test_readers_of_data_without_rules_that_is_back_do_not_wait_for_rules(tmp_path: Path, lost: str) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    world.tell(f"trips@{DAY}", lost)
    world.tell(f"fares@{DAY}", "backfill_requested")
    assert world.settle() == []
    world.tell(f"trips@{DAY}", "recovered")
    assert world.settle() == [f"fares@{DAY}", f"city@{DAY}"]
    assert world.status(f"trips@{DAY}").quality.value == "passed"


def test_a_backfill_that_changes_nothing_does_not_answer_what_a_changed_project_asked(tmp_path: Path) -> None:
    def project(more: str) -> dict[str, str]:
        return {"a": A_DAY, "b": A_DAY, "c": f"{{period: day, reprocess: ask, depends_on: [a{more}]}}"}

    world = ChangingWorld(tmp_path, project(""))
    world.settle()
    number = world.dagster_backfill(f"a@{DAY}")
    world.declare(project(", b"))
    world.step()
    assert world.status(f"c@{DAY}").asked
    world.stored.abandon(number, {Slice("a", DAY)})
    assert (world.settle(), world.phase(number)) == ([], "done")
    assert world.status(f"c@{DAY}").asked


@pytest.mark.parametrize("is_dagsters", [True, False])
def test_what_is_deleted_at_the_end_of_its_run_does_not_leave_its_backfill_open(
    tmp_path: Path, *, is_dagsters: bool
) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.dagster_backfill(f"trips@{DAY}") if is_dagsters else world.backfill(f"trips@{DAY}")
    world.step()
    if is_dagsters:
        world.tell(f"trips@{DAY}", "started", "by dagster")
    world.end(f"trips@{DAY}")
    world.tell(f"trips@{DAY}", "deleted")
    assert (world.settle(), world.phase(number)) == ([], "done")
    assert (world.state("trips"), world.state("fares")) == ("absent", "completed")
    world.tell(f"trips@{DAY}", "backfill_requested")
    assert world.settle() == [f"{name}@{DAY}" for name in CHAIN]


def test_a_crash_after_a_cancel_gave_a_failed_slice_back_does_not_give_it_back_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = ChangingWorld(tmp_path, CHAIN, attempts=1)
    world.step()
    world.end(f"trips@{DAY}", "failed")
    number = world.backfill(f"trips@{DAY}")
    world.driver.refresh()
    world.driver.step(lambda _: True)
    world.act(number, BackfillAction.CANCEL)
    world.driver.refresh()
    with monkeypatch.context() as patched:
        patched.setattr(Backfills, "note", _crash)
        with pytest.raises(RuntimeError, match="crash"):
            world.driver.step(lambda _: True)
    assert (world.phase(number), world.state("trips")) == ("cancelling", "failed")
    world.declare(CHAIN)
    assert (world.step(), world.phase(number), world.state("trips")) == ([], "cancelled", "failed")


def _crash(*_: object) -> None:
    raise RuntimeError("crash")

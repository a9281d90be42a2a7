"""What runs tell late, twice, and in any order; what a backfill has asked for, and what others do meanwhile."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.dependency_model.backfill.progress import BackfillAction

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_that_is_older_than_what_is_known_says_nothing(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, {"intake": "{period: day}", "sums": "{period: day, depends_on: [intake]}"})
    for event, run, minute in [("failed", "1", 5), ("started", "2", 10), ("completed", "2", 20), ("started", "1", 0)]:
        world.tell(f"intake@{DAY}", event, run, at=world.now - timedelta(minutes=60 - minute))
    assert (world.state("intake"), world.generation("intake")) == ("completed", 1)
    assert world.step() == [f"sums@{DAY}"]


@pytest.mark.parametrize("is_cold", [False, True])
def test_what_is_over_says_nothing_of_a_slice_that_the_center_has_to_look_up(tmp_path: Path, *, is_cold: bool) -> None:
    texts = {"intake": "{period: day}"}
    world = ChangingWorld(tmp_path, texts)
    first, second = [world.now + timedelta(minutes=minute) for minute in (0, 10)]
    for event, run, at in [("started", "1", first), ("failed", "1", first), ("completed", "2", second)]:
        world.tell(f"intake@{DAY}", event, run, at)
    world.later(days=3)
    for event, run, at in [("started", "1", first), ("completed", "2", second), ("failed", "1", first)]:
        if is_cold:
            world.center.checkpoint()
            world.declare(texts)
            assert not world.center.memory.runs
        world.tell(f"intake@{DAY}", event, run, at)
        assert (world.state("intake"), world.generation("intake")) == ("completed", 1)


def test_an_end_that_is_told_again_is_not_that_of_the_run_that_was_asked_for_since(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, {"intake": "{period: day}"})
    slice_, ended = f"intake@{DAY}", world.now
    world.tell(slice_, "completed", "1", ended)
    world.later(minutes=1)
    world.tell(slice_, "backfill_requested")
    world.tell(slice_, "completed", "1", ended)
    assert world.state("intake") == "ready"
    world.step()
    world.tell(slice_, "completed", "1", ended)
    assert world.state("intake") == "launched"
    world.end(slice_)
    assert (world.state("intake"), world.generation("intake")) == ("completed", 2)


Told = list[tuple[str, str, int]]


@st.composite
def reports(draw: st.DrawFn) -> tuple[Told, Told]:
    """What runs that follow each other tell, of which the last may complete; and the same in another order.

    The runs come in any order, each start or end first, or mixed, each start first; some of it comes twice. While a run
    has a slice, the failure of another one says nothing of it.
    """
    ends = ["failed"] * draw(st.integers(0, 3)) + [draw(st.sampled_from(["completed", "failed"]))]
    runs: list[Told] = [
        [("started", f"run {at}", 10 * at), (end, f"run {at}", 10 * at + 5)] for at, end in enumerate(ends)
    ]
    told = [report for run in runs for report in run]
    if draw(st.booleans()):
        mixed = [report for run in draw(st.permutations(runs)) for report in draw(st.permutations(run))]
    else:
        left = {at: list(run) for at, run in enumerate(runs)}
        mixed = [left[at].pop(0) for at in draw(st.permutations([*left, *left]))]
    return told, [*mixed, *draw(st.lists(st.sampled_from(told), max_size=3))]


def test_in_any_order_reports_end_alike(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, {"intake": "{period: hour, start: 2031-01-01T00}"})
    hours = (f"2031-{at // 672 + 1:02}-{at // 24 % 28 + 1:02}T{at % 24:02}" for at in count())

    @given(reports(), st.booleans())
    @settings(max_examples=10, deadline=None, database=None)
    def end_alike(told: tuple[Told, Told], is_at_once: bool) -> None:
        ends = []
        for order in told:
            hour = f"intake@{next(hours)}"
            facts = [
                world.fact(hour, event, run, world.now - timedelta(minutes=60 - minute)) for event, run, minute in order
            ]
            for some in [facts] if is_at_once else [[fact] for fact in facts]:
                world.center.report(some)
            ends.append(world.status(hour).run_state)
        assert ends[0] is ends[1]

    end_alike()


def test_a_slice_that_is_repaired_by_hand_while_a_backfill_goes_on_reaches_its_readers(tmp_path: Path) -> None:
    texts = {
        "calls": "{period: day}",
        "short": "{period: day, depends_on: [calls]}",
        "long": "{period: day, depends_on: [calls]}",
        "whole": "{period: day, depends_on: [short, long]}",
    }
    world = ChangingWorld(tmp_path, texts, attempts=1)
    world.settle()
    number = world.backfill(f"calls@{DAY}")
    world.step()
    world.end(f"calls@{DAY}")
    world.step()
    world.end(f"short@{DAY}", "failed")
    world.step()
    world.tell(f"short@{DAY}", "started", run="by hand")
    world.tell(f"short@{DAY}", "completed", run="by hand")
    world.step()
    world.end(f"long@{DAY}")
    world.settle()
    assert world.progress(number) == {"calls": "rebuilt", "short": "failed", "long": "rebuilt", "whole": "rebuilt"}
    assert world.generation("whole") == 2


METERS = {"meters": "{period: day}", "bills": "{period: day, depends_on: [meters]}"}


@pytest.mark.parametrize("is_there", [True, False], ids=["before the cancellation", "after it"])
def test_what_others_restate_meanwhile_is_caught_up_with_when_a_backfill_lets_go(
    tmp_path: Path, *, is_there: bool
) -> None:
    world = ChangingWorld(tmp_path, METERS)
    world.settle()
    number = world.backfill(f"meters@{DAY}")
    world.step()
    world.act(number, BackfillAction.PAUSE)
    world.end(f"meters@{DAY}")
    world.step()
    world.tell(f"meters@{DAY}", "backfill_requested")
    if is_there:
        world.settle()
    world.act(number, BackfillAction.CANCEL)
    world.settle()
    assert (world.phase(number), world.generation("meters")) == ("cancelled", 3)
    assert (world.generation("bills"), world.state("bills")) == (2, "completed")


def test_a_cancelled_backfill_starts_nothing_and_gives_back_what_failed(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, METERS)
    world.settle()
    number = world.backfill(f"meters@{DAY}")
    world.step()
    world.end(f"meters@{DAY}", "failed")
    world.step()
    world.act(number, BackfillAction.CANCEL)
    world.step()
    assert world.phase(number) == "cancelled"
    assert (world.state("meters"), world.generation("meters")) == ("completed", 1)
    world.later(days=1)
    assert world.settle() == ["meters@2031-05-06", "bills@2031-05-06"]


def test_what_failed_and_cannot_be_given_back_waits_for_a_person(tmp_path: Path) -> None:
    """Another input of it was computed again meanwhile: what it had is not what it would be."""
    texts = {"a": "{period: day}", "b": "{period: day}", "c": "{period: day, depends_on: [a, b]}"}
    world = ChangingWorld(tmp_path, texts)
    world.settle()
    number = world.backfill(f"a@{DAY}")
    world.step()
    world.end(f"a@{DAY}")
    world.step()
    world.tell(f"b@{DAY}", "backfill_requested")
    world.step()
    world.end(f"b@{DAY}")
    world.end(f"c@{DAY}", "failed")
    world.act(number, BackfillAction.CANCEL)
    world.step()
    assert (world.phase(number), world.state("c")) == ("cancelled", "failed")
    assert world.events(f"c@{DAY}").endswith("failed cancelled")
    world.later(hours=1)
    assert world.step() == []
    world.tell(f"c@{DAY}", "retried")
    assert world.step() == [f"c@{DAY}"]


@pytest.mark.parametrize("end", ["cancelled", "interrupted", "lost", "failed"])
def test_ends_that_mean_different_things(tmp_path: Path, end: str) -> None:
    """A cancelled run waits for a person, over restarts; an interrupted or lost one is launched at once, uncounted."""
    world = ChangingWorld(tmp_path, METERS)
    world.step()
    for _ in range(3 if end in ("interrupted", "lost") else 1):
        world.end(f"meters@{DAY}", end)
        again = world.step()
        assert again == ([f"meters@{DAY}"] if end in ("interrupted", "lost") else [])
    if end in ("interrupted", "lost"):
        assert world.center.failures(next(iter(world.center.under_way()))) is None
        return
    world.declare(METERS)
    world.later(minutes=6)
    assert world.step() == ([f"meters@{DAY}"] if end == "failed" else [])
    if end == "cancelled":
        world.tell(f"meters@{DAY}", "retried")
        assert world.step() == [f"meters@{DAY}"]
        world.end(f"meters@{DAY}", "failed")
        world.later(minutes=6)
        assert world.step() == [f"meters@{DAY}"], "the first failure: it was held for the cancellation alone"


def test_what_a_promised_slice_waits_for_goes_before_others_whoever_asked_for_it(tmp_path: Path) -> None:
    texts = {
        "pings": "{period: hour, start: 2031-05-05T00}",
        "balance": "{period: day}",
        "board": "{period: day, ready_by: '02:00', depends_on: [{entity: balance, offset: 'Set -1,0'}]}",
    }
    world = ChangingWorld(tmp_path, texts, pools="default=2")
    world.later(hours=-11)
    world.settle(200)
    world.backfill(f"balance@{DAY}")
    world.later(hours=24)
    assert f"balance@{DAY}" in world.step()


def test_a_backfill_is_not_passed_over_for_ever(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, {"pings": "{period: hour, start: 2031-05-05T00}", "other": "{period: day}"},
                          pools="default=1")  # fmt: skip
    world.settle(200)
    world.backfill(f"other@{DAY}")
    world.later(hours=30)
    launched: list[str] = []
    for _ in range(3):
        launched += world.step()
        for slice_ in list(world.center.under_way()):
            world.end(str(slice_))
    assert launched[:2] == [launched[0], f"other@{DAY}"]
    assert launched[0].startswith("pings")

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
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
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


@pytest.mark.parametrize("end", ["lost", "interrupted", "failed"])
@pytest.mark.parametrize("starts_before", [True, False], ids=["start first", "end first"])
def test_the_start_of_a_run_that_is_over_does_not_begin_the_next_one(
    tmp_path: Path, end: str, *, starts_before: bool
) -> None:
    world = ChangingWorld(tmp_path, {"intake": "{period: day}"}, attempts=9)
    slice_, begun, ended = f"intake@{DAY}", world.now, world.now + timedelta(minutes=1)
    world.later(minutes=1)
    for event, at in [("started", begun)] * starts_before + [(end, ended)]:
        world.tell(slice_, event, "by hand", at)
    world.later(hours=1)
    assert world.tell(slice_, "started", "by hand", begun) == 0
    assert world.step() == [slice_]
    assert world.tell(slice_, "started", "by hand", begun) == 0
    assert world.state("intake") == "launched"
    world.end(slice_)
    assert (world.state("intake"), world.generation("intake")) == ("completed", 1)


@pytest.mark.parametrize("entity", ["intake", "feed"])
def test_the_start_of_the_next_run_says_that_a_reported_one_is_over(tmp_path: Path, entity: str) -> None:
    """The run that the center launched itself has its slice up to its end."""
    world = ChangingWorld(tmp_path, {"intake": "{period: day}", "feed": "{period: day, kind: Virtual}"})
    slice_, begun = f"{entity}@{DAY}", world.now
    for event, run, minute in [("started", "1", 0), ("started", "2", 10), ("failed", "1", 5)]:
        world.tell(slice_, event, run, begun + timedelta(minutes=minute))
        assert world.state(entity) == "running"
    world.tell(slice_, "failed", "2", begun + timedelta(minutes=15))
    assert world.state(entity) == "failed"


Reports = list[tuple[str, str | None, int]]
RUN_ENDS = ("completed", "failed", "cancelled", "interrupted", "lost")


@st.composite
def orders_of_reports(draw: st.DrawFn, ends: Sequence[str], *, names_runs: bool) -> tuple[Reports, Reports]:
    """What runs that follow each other report, and the same in any order; some of it comes twice.

    Of the last run perhaps the start alone; of others perhaps the end alone. Where no run has a name, a second start is
    the first one again, and what comes once the data is there repeats that.
    """
    reports: Reports = []
    for at, end in enumerate(draw(st.lists(st.sampled_from(ends), min_size=1, max_size=4))):
        run = f"run {at}" if names_runs else None
        run_reports = [("started", run, 10 * at), (end, run, 10 * at + 5)]
        reports += run_reports[draw(st.integers(0, 1)) :]
        if end == "completed" and not names_runs:
            break
    if names_runs and reports[-2:-1] and reports[-2][0] == "started" and draw(st.booleans()):
        reports.pop()
    mixed = draw(st.permutations([*reports, *draw(st.lists(st.sampled_from(reports), max_size=3))]))
    return reports, mixed


@pytest.mark.parametrize(
    ("entity", "ends", "names_runs"),
    [
        ("intake", RUN_ENDS, True),
        ("feed", RUN_ENDS, True),
        ("feed", ("completed", "failed"), False),
    ],
    ids=["own", "external", "external, without names of runs"],
)
def test_in_any_order_reports_end_alike(tmp_path: Path, entity: str, ends: Sequence[str], *, names_runs: bool) -> None:
    """The newest report says what the slice is, whether the reports come one by one or in one commit."""
    when = "period: hour, start: 2031-01-01T00"
    world = ChangingWorld(tmp_path, {"intake": f"{{{when}}}", "feed": f"{{{when}, kind: Virtual}}"})
    hours = (f"2031-{at // 672 + 1:02}-{at // 24 % 28 + 1:02}T{at % 24:02}" for at in count())

    @given(orders_of_reports(ends, names_runs=names_runs), st.booleans())
    @settings(max_examples=25, deadline=None, database=None)
    def end_alike(orders: tuple[Reports, Reports], is_at_once: bool) -> None:
        states = []
        for order in orders:
            hour = f"{entity}@{next(hours)}"
            facts = [
                world.fact(hour, event, run, world.now - timedelta(minutes=60 - minute)) for event, run, minute in order
            ]
            for some in [facts] if is_at_once else [[fact] for fact in facts]:
                assert not world.center.report(some).refused
            status = world.status(hour)
            is_there = status.run_state is RunState.COMPLETED
            states.append((status.run_state, status.valid, is_there and status.quality, status.tainted, status.issues))
        assert states[0] == states[1], orders

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


@pytest.mark.parametrize("repair", ["by hand", "retried", "restated"])
def test_a_slice_that_is_repaired_while_a_backfill_is_paused_reaches_its_readers_after_a_cancel(
    tmp_path: Path, repair: str
) -> None:
    texts = {**METERS, "sums": "{period: day, depends_on: [bills]}"}
    world = ChangingWorld(tmp_path, texts, attempts=1)
    world.settle()
    number = world.backfill(f"meters@{DAY}")
    world.step()
    world.end(f"meters@{DAY}", "failed")
    world.act(number, BackfillAction.PAUSE)
    world.step()
    if repair == "by hand":
        world.tell(f"meters@{DAY}", "completed", run="by hand")
    else:
        world.tell(f"meters@{DAY}", "retried" if repair == "retried" else "backfill_requested")
        world.settle()
    world.act(number, BackfillAction.CANCEL)
    assert world.settle() == [f"bills@{DAY}", f"sums@{DAY}"]
    assert world.phase(number) == "cancelled"


def test_what_a_cancel_gives_back_was_read_from_its_own_inputs_and_is_not_given_back_if_another_came(
    tmp_path: Path,
) -> None:
    texts = {"a": "{period: day}", "b": "{period: day}", "c": "{period: day, depends_on: [a, b]}"}
    world, c = ChangingWorld(tmp_path, texts), Slice("c", DAY)
    world.settle()
    for with_b in (False, True):
        number = world.backfill(f"a@{DAY}")
        world.step()
        if with_b:
            world.tell(f"b@{DAY}", "backfill_requested")
            world.step()
            world.end(f"b@{DAY}")
        world.end(f"a@{DAY}")
        world.step()
        world.end(str(c), "failed")
        world.act(number, BackfillAction.CANCEL)
        world.step()
        assert (world.state("a"), world.state("c")) == ("completed", "failed" if with_b else "completed")
        if not with_b:
            assert dict(world.store.read.reads([c])[c] or ()) == {Slice("a", DAY): 1, Slice("b", DAY): 1}


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


def test_a_backfill_in_one_pool_does_not_keep_another_one_from_its_share(tmp_path: Path) -> None:
    heavy = "tags: {pool: heavy}"
    texts = {
        "hogs": f"{{period: hour, start: 2031-05-05T00, {heavy}}}",
        "long": "{period: day, end: 2031-05-06}",
        "other": f"{{period: day, {heavy}}}",
    }
    world = ChangingWorld(tmp_path, texts, pools="default=1,heavy=1")
    world.settle(200)
    for name in ("long", "other"):
        world.backfill(f"{name}@{DAY}")
    world.later(hours=20)
    launched: list[str] = []
    for _ in range(3):
        launched += world.step()
        for slice_ in list(world.center.under_way()):
            if slice_.entity != "long":
                world.end(str(slice_))
    assert {f"long@{DAY}", f"other@{DAY}"} <= set(launched)


def test_what_a_promised_slice_waits_for_needs_no_share_of_backfills(tmp_path: Path) -> None:
    texts = {
        "hours": "{period: hour, start: 2031-05-05T00}",
        "balance": "{period: day}",
        "board": "{period: day, ready_by: '02:00', depends_on: [{entity: balance, offset: 'Set -1,0'}]}",
    }
    world = ChangingWorld(tmp_path, texts, pools="default=2")
    world.later(hours=-11)
    world.settle(200)
    world.backfill(*(f"hours@{DAY}T{hour:02}" for hour in range(5)))
    assert len(world.step()) == 1
    world.backfill(f"balance@{DAY}")
    world.later(hours=24)
    launched = [*world.step()]
    world.end("balance@2031-05-06")
    assert [*launched, *world.step()] == ["balance@2031-05-06", f"balance@{DAY}"]

"""What is stored by slice meets a project that has changed: it is settled, and everything else goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tidemark.dependency_model.backfill.progress import BackfillAction

if TYPE_CHECKING:
    from pathlib import Path

CHAIN = {
    "trips": "{period: day}",
    "fares": "{period: day, depends_on: [trips]}",
    "city": "{period: day, depends_on: [fares]}",
}
FARES_GONE = {"trips": "{period: day}", "city": "{period: day, depends_on: [trips]}"}


@pytest.mark.parametrize("is_renamed", [False, True])
def test_a_backfill_of_a_table_that_is_gone_is_cancelled_and_holds_up_nobody(
    tmp_path: Path, *, is_renamed: bool
) -> None:
    texts = {
        "stock": "{period: day}",
        "prices": "{period: day, kind: Virtual}",
        "margin": "{period: day, depends_on: [stock, prices]}",
        "board": "{period: day, depends_on: [margin]}",
    }
    world = ChangingWorld(tmp_path, texts)
    world.tell(f"prices@{DAY}", "observed")
    world.settle()
    number = world.backfill(f"stock@{DAY}")
    world.step()
    world.end(f"stock@{DAY}")
    world.tell(f"prices@{DAY}", "deleted")
    world.step()
    assert world.state("margin") == "waiting"
    margin = texts.pop("margin")
    renamed = {**texts, "gross": margin, "board": "{period: day, depends_on: [gross]}"}
    gone = {**texts, "board": "{period: day, depends_on: [stock]}"}
    world.declare({**(renamed if is_renamed else gone), "visits": "{period: day}"})
    world.act(number, BackfillAction.CANCEL)
    assert f"visits@{DAY}" in world.step()
    assert world.phase(number) == "cancelled"
    assert world.progress(number)["margin"] == "gone"
    assert world.step() == []


def test_a_backfill_goes_on_without_a_table_that_is_gone_and_by_what_is_read_now(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.backfill(f"trips@{DAY}")
    world.step()
    world.end(f"trips@{DAY}")
    assert world.step() == [f"fares@{DAY}"]
    world.declare(FARES_GONE)
    assert world.settle() == [f"city@{DAY}"]
    assert world.progress(number) == {"trips": "rebuilt", "fares": "gone", "city": "rebuilt"}
    assert world.phase(number) == "done"
    world.tell(f"trips@{DAY}", "backfill_requested")
    world.settle()
    assert (world.generation("trips"), world.generation("city")) == (3, 3)


@pytest.mark.parametrize("state", ["ready", "failed", "launched"])
@pytest.mark.parametrize("now", ["{period: day, start: 2031-05-06}", "{period: day, kind: Virtual}"])
def test_what_is_no_slice_any_more_or_is_made_by_others_is_not_launched(tmp_path: Path, state: str, now: str) -> None:
    world = ChangingWorld(tmp_path, {"daily": "{period: day}"})
    world.center.tick()
    if state != "ready":
        world.step()
    if state == "failed":
        world.end(f"daily@{DAY}", "failed")
    if state == "launched":
        world.runs.slices.clear()
    world.declare({"daily": now, "other": "{period: day}"})
    world.later(minutes=6)
    assert world.step() == [f"other@{DAY}"]
    assert f"daily@{DAY}" not in world.settle()


def test_a_table_that_comes_back_goes_on(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.step()
    world.end(f"trips@{DAY}", "failed")
    world.declare({"other": "{period: day}"})
    world.later(minutes=6)
    world.settle()
    world.declare(CHAIN)
    assert world.settle() == [f"{name}@{DAY}" for name in CHAIN]


AWAY = {
    "table": {"trips": "{period: day}"},
    "dependency": {**CHAIN, "fares": "{period: day}"},
    "slice": {**CHAIN, "fares": "{period: day, start: 2031-05-06, depends_on: [trips]}"},
    "run": {**CHAIN, "fares": "{period: day, kind: Virtual}"},
}


@pytest.mark.parametrize("policy", ["always", "if_changed", "ask", "never"])
@pytest.mark.parametrize("event", ["backfill_requested", "tainted", "quality_failed", ""])
@pytest.mark.parametrize("away", AWAY)
def test_what_was_away_while_its_input_changed_is_told_when_it_is_back(
    tmp_path: Path, away: str, event: str, policy: str
) -> None:
    whole = {**CHAIN, "fares": f"{{period: day, reprocess: {policy}, depends_on: [trips]}}"}
    world = ChangingWorld(tmp_path, whole)
    world.settle()
    world.declare(AWAY[away])
    if event:
        world.tell(f"trips@{DAY}", event)
    world.settle()
    world.declare(whole)
    is_again = event == "backfill_requested" and policy in ("always", "if_changed")
    is_tainted = event in ("tainted", "quality_failed") or (event == "backfill_requested" and policy == "ask")
    assert world.settle() == ([f"fares@{DAY}", f"city@{DAY}"] if is_again else [])
    for name in ("fares", "city"):
        status = world.status(f"{name}@{DAY}")
        assert (status.tainted, "partial" in status.states) == (is_tainted, False)
    assert world.status(f"fares@{DAY}").asked == (is_tainted and event == "backfill_requested")
    world.declare(whole)
    assert world.settle() == []


def test_a_stale_slice_of_a_cancelled_backfill_stays_so_when_others_change(tmp_path: Path) -> None:
    world = ChangingWorld(tmp_path, CHAIN)
    world.settle()
    number = world.backfill(f"trips@{DAY}")
    world.step()
    world.act(number, BackfillAction.CANCEL)
    world.settle()
    for start in ("2031-05-04", DAY):
        world.declare({**CHAIN, "fares": f"{{period: day, start: {start}, depends_on: [trips]}}"})
        assert f"fares@{DAY}" not in world.settle()


def test_windows_that_reach_into_a_new_past_are_told_and_computed_again(tmp_path: Path) -> None:
    reader = "{period: day, start: 2031-05-07, kind: Sliding, depends_on: [{entity: sales, offset: 'Range -2..0'}]}"
    world = ChangingWorld(tmp_path, {"sales": "{period: day, start: 2031-05-07}", "last_3_days": reader})
    world.later(days=5)
    world.settle()
    world.declare({"sales": "{period: day, start: 2031-05-05}", "last_3_days": reader})
    assert {"sales@2031-05-05", "sales@2031-05-06"} <= set(world.step())
    assert "partial" in world.status("last_3_days@2031-05-07").states
    assert "partial" not in world.status("last_3_days@2031-05-09").states
    launched = world.settle()
    assert sorted(launched) == ["last_3_days@2031-05-07", "last_3_days@2031-05-08"]
    assert world.generation("last_3_days", "2031-05-07") == 2
    world.declare({"sales": "{period: day, start: 2031-05-05}", "last_3_days": reader})
    assert world.settle() == []


def test_a_part_that_comes_makes_what_was_whole_lack_it(tmp_path: Path) -> None:
    def parts(names: str) -> dict[str, str]:
        return {
            "calls": f"{{period: day, sub_partitions: {{region: [{names}]}}}}",
            "report": "{period: day, depends_on: [calls]}",
        }

    world = ChangingWorld(tmp_path, parts("eu, us"))
    world.settle()
    assert world.state("report") == "completed"
    world.declare(parts("eu, us, asia"))
    assert world.step() == [f"calls@{DAY}/region=asia"]
    assert "partial" in world.status(f"calls@{DAY}").states
    world.settle()
    assert (world.generation("calls"), world.state("report")) == (2, "completed")

"""Taint on a store: by what was read, kept with reason and author, resumed after a kill, lifted by a clean rebuild."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import NOW, CenterWorld
from tidemark.center.taint import Taint, carry_out, plan_taint
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.impact.taint_plan import TaintPlan

ODS, DWD, ADS = "ods@2024-06-02", "dwd@2024-06-02", "ads@2024-06-02"
TEXTS = {
    "ods": "{period: day, kind: Virtual}",
    "dwd": "{period: day, depends_on: [ods]}",
    "other": "{period: day, reprocess: never, depends_on: [{entity: ods, weak: {timeout: 1m}}]}",
    "ads": "{period: day, depends_on: [dwd]}",
}


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    """`ods`, `dwd` and `ads` of one day are there; `other` was computed without `ods`, before it came."""
    made = CenterWorld(tmp_path, **TEXTS)
    made.center.tick()
    made.run("other@2024-06-02", "run 0")
    made.tell(ODS, "observed")
    for number, name in enumerate((DWD, ADS), start=1):
        made.run(name, f"run {number}")
    return made


def taint(world: CenterWorld, *causes: str) -> TaintPlan:
    asked = Taint(tuple(map(Slice.parse, causes)), "ann", "the feed repeated itself", NOW)
    plan = carry_out(world.graph, world.store, asked)
    world.center.catch_up()
    return plan


def tainted(world: CenterWorld) -> set[str]:
    _, everything = world.store.read.everything()
    return {str(current.slice) for current in everything if current.status.tainted}


def test_what_was_built_from_it_is_marked_and_what_went_without_it_is_not(world: CenterWorld) -> None:
    asked = Taint((Slice.parse(ODS),), "ann", "wrong", NOW)
    last, preview = world.store.read.last(), plan_taint(world.graph, world.store, asked)
    assert world.store.read.last() == last
    assert {str(slice_) for slice_ in preview.marked} == {ODS, DWD, ADS}
    taint(world, ODS)
    assert tainted(world) == {ODS, DWD, ADS}


def test_reason_and_author_are_kept_and_a_second_call_changes_nothing(world: CenterWorld) -> None:
    taint(world, ODS)
    last = world.store.read.last()
    assert taint(world, ODS).marked == {}
    assert world.store.read.last() == last
    (_, told) = (world.store.read.history(Slice.parse(name))[-1] for name in (ODS, ADS))
    assert (told.event, told.who, told.why) == (
        Event.TAINTED,
        "ann",
        f"the feed repeated itself (it read {DWD})",
    )


def test_it_is_lifted_where_it_is_computed_again_from_clean_inputs(world: CenterWorld) -> None:
    taint(world, DWD)
    assert tainted(world) == {DWD, ADS}
    world.tell(DWD, "backfill_requested", "again")
    world.run(DWD, "run 8")
    assert (tainted(world), world.ready()[-1]) == ({ADS}, ADS)
    world.run(ADS, "run 9")
    assert tainted(world) == set()


def test_what_is_computed_again_from_a_tainted_input_is_tainted_again(world: CenterWorld) -> None:
    taint(world, ODS)
    world.tell(DWD, "completed", "by hand", run="run by hand")
    assert DWD in tainted(world)


@pytest.mark.parametrize("point", ["taint.staged", "taint.written"])
def test_killed_at_any_point_the_same_call_ends_the_same(
    world: CenterWorld, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.center.taint._AT_ONCE", 1)
    for nth in (1, 2, 3):
        world.store.close()
        pid = os.fork()
        if not pid:
            os.environ[ENV_NAME] = f"{point}:{nth}"
            taint(world, ODS)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) in (signal.SIGKILL, 0)
    taint(world, ODS)
    assert tainted(world) == {ODS, DWD, ADS}
    marks = [told for told in world.store.read.after(0) if told.event is Event.TAINTED]
    assert len(marks) == 3

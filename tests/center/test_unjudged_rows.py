"""Published rows that were never judged: whoever rebuilds them the same brings other rows to those downstream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.launchers import MemoryLauncher
from tests.center.test_backfills import BackfillWorld
from tests.center.test_center import CenterWorld
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2024-06-01"
DWD, LOOSE = f"dwd@{DAY}", f"loose@{DAY}"
POLICIES = ("always", "if_changed", "never", "ask")
DECLARED = {
    "dwd": "{period: day, quality: [{not_null: [id]}]}",
    **{name: f"{{period: day, reprocess: {name}, depends_on: [dwd]}}" for name in POLICIES},
}
KEPT_OR_NOT = {"always": "again", "never": "kept"}


class RebuiltWorld(CenterWorld):
    """A day with a rule, computed and judged, and four who have read it; each commit may be the last of a process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, **DECLARED)
        self.center.tick()
        self.run(DWD, "run 1")
        self.tell(DWD, "quality_passed")
        for name in POLICIES:
            self.run(f"{name}@{DAY}", f"{name} 1")

    def rebuild(self, run: str, *, changed: bool, judged: str | None = None) -> None:
        """Somebody asks for the day again; its run ends, and its rules tell something or die first."""
        self.tell(DWD, "backfill_requested", f"before {run}")
        assert self.center.launch([Slice.parse(DWD)], run, "default") == [Slice.parse(DWD)]
        self.tell(DWD, "completed", run=run, changed=changed)
        if judged:
            self.tell(DWD, judged, f"{judged} {run}", changed=changed)
        self.center = self.open_center()

    def fates(self) -> dict[str, str]:
        statuses = {name: self.center.status(Slice(name, DAY)) for name in POLICIES}
        there = RunState.COMPLETED
        return {
            name: "again" if status.run_state is not there else "asked" if status.tainted else "kept"
            for name, status in statuses.items()
        }


@pytest.fixture
def world(tmp_path: Path) -> RebuiltWorld:
    return RebuiltWorld(tmp_path)


def test_the_same_rows_as_those_that_were_never_judged_are_others_to_who_read_those_before(world: RebuiltWorld) -> None:
    """With `if_changed` they would keep what they computed from the rows of run 1 for ever."""
    world.rebuild("run 2", changed=True)
    world.rebuild("run 3", changed=False, judged="quality_passed")
    assert world.fates() == {**KEPT_OR_NOT, "if_changed": "again", "ask": "asked"}


def test_a_question_stays_over_restarts_and_rebuilds_with_the_rows_that_raised_it(world: RebuiltWorld) -> None:
    world.rebuild("run 2", changed=True, judged="quality_passed")
    assert world.fates()["ask"] == "asked"
    world.rebuild("run 3", changed=False, judged="quality_passed")
    assert world.fates()["ask"] == "asked"
    world.tell(f"ask@{DAY}", "kept")
    world.rebuild("run 4", changed=False, judged="quality_passed")
    assert world.fates()["ask"] == "kept"


def test_it_is_owed_over_failed_runs_and_refused_rows_until_the_rules_hold(world: RebuiltWorld) -> None:
    world.rebuild("run 2", changed=True)
    for run in ("run 3", "run 4"):
        world.tell(DWD, "backfill_requested", f"before {run}")
        world.center.launch([Slice.parse(DWD)], run, "default")
        world.tell(DWD, "failed", run=run)
        world.tell(DWD, "quality_failed", f"refused {run}")
    world.rebuild("run 5", changed=False, judged="quality_passed")
    assert world.fates() == {**KEPT_OR_NOT, "if_changed": "again", "ask": "asked"}
    world.run(f"if_changed@{DAY}", "if_changed 2")
    world.rebuild("run 6", changed=False, judged="quality_passed")
    assert world.fates()["if_changed"] == "kept", "what was told once is not told again"


@pytest.mark.parametrize("judged", [None, "quality_failed"])
def test_rows_that_never_changed_are_unchanged_judged_or_not(world: RebuiltWorld, judged: str | None) -> None:
    world.rebuild("run 2", changed=False, judged=judged)
    world.rebuild("run 3", changed=False, judged="quality_passed")
    assert world.fates() == {**KEPT_OR_NOT, "if_changed": "kept", "ask": "kept"}


class EarlyReaderWorld(CenterWorld):
    """A day with a rule and two states, and `loose`, which takes it before its rules were checked."""

    def __init__(self, folder: Path) -> None:
        states = "[{entity_state: estimated, depends_on: []}, {entity_state: completed, depends_on: []}]"
        loose = "{entity: dwd, quality: ignore, states: [estimated, completed]}"
        super().__init__(
            folder,
            dwd=f"{{period: day, quality: [{{not_null: [id]}}], states: {states}}}",
            loose=f"{{period: day, depends_on: [{loose}]}}",
        )
        self.center.tick()

    def estimate(self, run: str) -> None:
        assert self.center.launch([Slice.parse(DWD)], run, "default") == [Slice.parse(DWD)]
        self.tell(DWD, "reached", run=run, state="estimated")

    def compute(self, run: str) -> None:
        """Both states, one after the other."""
        self.estimate(f"{run} estimated")
        self.run(DWD, run)

    def pass_rules(self, after: str) -> int:
        """The rules hold, as another process hears; the generation of `loose` then."""
        self.center = self.open_center()
        self.tell(DWD, "quality_passed", f"passed {after}")
        return self.center.status(Slice.parse(LOOSE)).generation


@pytest.fixture
def early(tmp_path: Path) -> EarlyReaderWorld:
    return EarlyReaderWorld(tmp_path)


def test_who_has_read_what_passes_is_not_asked(early: EarlyReaderWorld) -> None:
    early.compute("run 1")
    early.run(LOOSE, "loose 1")
    assert early.pass_rules("run 1") == 1
    early.tell(DWD, "backfill_requested")
    early.compute("run 2")
    assert early.pass_rules("run 2") == 2, "it has read the rows of run 1"
    early.tell(DWD, "backfill_requested", "once more")
    early.compute("run 3")
    early.run(LOOSE, "loose 2")
    assert early.pass_rules("run 3") == 2


def test_who_has_read_an_earlier_state_of_what_passes_is_asked(early: EarlyReaderWorld) -> None:
    early.estimate("run 1")
    early.run(LOOSE, "loose 1")
    early.run(DWD, "run 2")
    assert early.pass_rules("run 2") == 2


@pytest.mark.parametrize("is_known", [True, False])
def test_who_was_computed_by_another_run_than_the_one_launched_is_asked(
    early: EarlyReaderWorld, *, is_known: bool
) -> None:
    """Nobody knows what a run of somebody else read."""
    early.compute("run 1")
    assert early.pass_rules("run 1") == 1
    early.run(LOOSE, "loose 1")
    early.tell(DWD, "backfill_requested")
    early.compute("run 2")
    early.tell(LOOSE, "backfill_requested")
    early.center.launch([Slice.parse(LOOSE)], "loose 2", "default")
    early.tell(LOOSE, "completed", run="loose 2" if is_known else "by hand")
    assert early.pass_rules("run 2") == (2 if is_known else 3)


def test_the_store_is_not_asked_where_rules_are_checked_with_the_run(
    early: EarlyReaderWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    early.compute("run 1")
    early.pass_rules("run 1")
    early.run(LOOSE, "loose 1")
    early.tell(DWD, "backfill_requested")
    early.estimate("run 2 estimated")
    asked: list[Slice] = []
    monkeypatch.setattr(early.store.read, "launches", asked.extend)
    early.center.launch([Slice.parse(DWD)], "run 2", "default")
    facts = [
        Fact(f"{event.value} 2", Slice.parse(DWD), event, early.now, "test", data=Facts(run_id="run 2"))
        for event in (Event.COMPLETED, Event.QUALITY_PASSED)
    ]
    assert early.center.report(facts).new == 2
    assert (early.center.status(Slice.parse(LOOSE)).generation, asked) == (2, [])


def test_a_backfill_counts_them_as_changed_too(tmp_path: Path) -> None:
    declared = {
        "a": "{period: day, quality: [{not_null: [id]}]}",
        "kept": "{period: day, reprocess: if_changed, depends_on: [a]}",
    }
    world = BackfillWorld(tmp_path, MemoryLauncher(), **declared)
    world.center.tick()
    for _ in range(2):
        world.step()
        world.finish()
        for day in ("2024-06-01", "2024-06-02"):
            world.tell(f"a@{day}", "quality_passed")
    number = world.plan(f"a@{DAY}")
    world.step()
    world.finish()
    assert world.step() == 0, "not judged yet"
    data = Facts(run_id="by hand", parameters={"changed": False})
    world.tell(f"a@{DAY}", "completed", "the same by hand", changed=False, data=data)
    world.tell(f"a@{DAY}", "quality_passed", "passed at last", changed=False)
    world.work()
    assert world.progress(number) == {f"a@{DAY}": "rebuilt", f"kept@{DAY}": "rebuilt"}

"""Backfills on a store: carried out in runs, paused, cancelled, asked about; killed at any point, and going on."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.center.launchers import FileLauncher, MemoryLauncher
from tests.center.test_center import NOW, CenterWorld
from tests.examples import each
from tidemark.center.backfill_planning import plan_of
from tidemark.center.backfills import BackfillDriver
from tidemark.center.dispatch import Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.dependency_model.backfill.progress import BackfillAction
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.state_store.transition import Facts
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    from pathlib import Path

DAYS = ("2024-06-01", "2024-06-02")
TEXTS = {
    "a": "period: day",
    "b": "{period: day, depends_on: [a]}",
    "c": "{period: day, start: 2024-06-01, depends_on: [b, a, {entity: c, offset: Set -1}]}",
    "kept": "{period: day, reprocess: if_changed, depends_on: [b]}",
    "asks": "{period: day, reprocess: ask, depends_on: [a]}",
}
REQUEST = BackfillRequest("ann", "the feed repeated itself", "a 2024-06-01")
POINTS = ("backfill.decided", "backfill.reported", "backfill.noted", "center.written", "dispatch.noted")


class BackfillWorld(CenterWorld):
    """A center with its backfills and its dispatch; everything of the two days is there."""

    def __init__(self, folder: Path, launcher: MemoryLauncher | FileLauncher, **texts: str) -> None:
        super().__init__(folder, **(texts or TEXTS))
        self.launcher = launcher
        self.stored = Backfills(self.store.database)
        self.begin()

    def begin(self, pools: str = "default=9") -> None:
        """What a new process of the center has."""
        self.center = self.open_center()
        self.driver = BackfillDriver(self.center, lambda: NOW)
        self.dispatch = Dispatch(
            self.center,
            self.launcher,
            Pools.parse(pools),
            policy=LaunchPolicy(attempts=1, together=7),
            clock=lambda: NOW,
            backfills=self.driver,
        )
        self.driver.refresh()

    def plan(self, *roots: str, phase: BackfillPhase = BackfillPhase.RUNNING) -> int:
        plan = plan_of(self.graph, self.store, [Slice.parse(root) for root in roots], NOW)
        return self.stored.add(plan, REQUEST, phase)

    def step(self) -> int:
        self.driver.refresh()
        return self.dispatch.step()

    def finish(self, how: Event = Event.COMPLETED, only: str = "", **told: object) -> None:
        """Let what is under way end."""
        for slice_, (run, _) in self.center.under_way().items():
            if only in (slice_.entity, "") and run:
                parameters = {"changed": told.get("changed", True)}
                fact = Fact(f"{run} {slice_}", slice_, how, NOW, "test", changed=bool(parameters["changed"]),
                            data=Facts(run_id=run, parameters=parameters))  # fmt: skip
                self.center.report([fact], strict=True)

    def fill(self) -> None:
        self.center.tick()
        self.work()

    def work(self) -> None:
        while self.step() or self.center.under_way():
            self.finish()

    def progress(self, number: int) -> dict[str, str]:
        return {str(slice_): progress.value for slice_, progress in self.stored.load(number).progress.items()}

    def generations(self) -> dict[str, int]:
        _, everything = self.store.read.everything()
        return {str(current.slice): current.status.generation for current in everything}


@pytest.fixture
def launcher() -> MemoryLauncher:
    return MemoryLauncher()


@pytest.fixture
def world(tmp_path: Path, launcher: MemoryLauncher) -> BackfillWorld:
    made = BackfillWorld(tmp_path, launcher)
    made.fill()
    launcher.runs.clear()
    return made


def test_each_slice_is_rebuilt_once_after_those_that_it_reads_in_runs_that_name_the_backfill(
    world: BackfillWorld, launcher: MemoryLauncher
) -> None:
    number = world.plan(f"a@{DAYS[0]}")
    world.work()
    world.stored.answer(number, None, rebuild=True)
    world.work()
    once = [*(f"{name}@{DAYS[0]}" for name in ("a", "b", "c", "kept", "asks")), f"c@{DAYS[1]}"]
    assert sorted(slice_ for group in launcher.groups for slice_ in group) == sorted(once)
    assert launcher.groups[0] == [f"a@{DAYS[0]}"]
    assert {launcher.backfills[run] for run in launcher.runs} == {number}
    assert world.stored.row(number).phase is BackfillPhase.DONE
    assert {name for name, generation in world.generations().items() if generation > 1} == {
        *(f"{name}@{DAYS[0]}" for name in ("a", "b", "c", "kept", "asks")), f"c@{DAYS[1]}",
    }  # fmt: skip
    assert max(world.generations().values()) == 2


def test_same_content_stops_early_and_a_slice_that_asks_waits_for_a_person(world: BackfillWorld) -> None:
    number = world.plan(f"a@{DAYS[0]}")
    while world.step() or world.center.under_way():
        world.finish(changed=False)
    assert world.progress(number)[f"kept@{DAYS[0]}"] == "kept"
    assert world.progress(number)[f"asks@{DAYS[0]}"] == "kept"
    assert world.stored.row(number).phase is BackfillPhase.DONE
    second = world.plan(f"a@{DAYS[1]}")
    world.work()
    asked = Slice("asks", DAYS[1])
    assert world.progress(second)[str(asked)] == "asking"
    assert world.center.status(asked).tainted
    world.begin()
    world.stored.answer(second, {asked}, rebuild=False)
    world.work()
    assert (world.progress(second)[str(asked)], world.center.status(asked).tainted) == ("kept", False)
    assert world.stored.row(second).phase is BackfillPhase.DONE


def test_a_failed_branch_does_not_stop_the_others(world: BackfillWorld) -> None:
    number = world.plan(f"a@{DAYS[0]}")
    world.step()
    world.finish()
    world.step()
    world.finish(Event.FAILED, only="b")
    world.work()
    world.stored.answer(number, None, rebuild=True)
    world.work()
    assert world.progress(number) == {
        f"a@{DAYS[0]}": "rebuilt", f"b@{DAYS[0]}": "failed", f"c@{DAYS[0]}": "blocked", f"c@{DAYS[1]}": "blocked",
        f"kept@{DAYS[0]}": "blocked", f"asks@{DAYS[0]}": "rebuilt",
    }  # fmt: skip
    assert world.center.status(Slice("c", DAYS[0])).valid
    assert world.stored.row(number).phase is BackfillPhase.DONE


def test_paused_it_begins_nothing_and_cancelled_it_gives_back_what_had_not_begun(
    world: BackfillWorld, launcher: MemoryLauncher
) -> None:
    before = world.generations()
    number = world.plan(f"a@{DAYS[0]}", f"a@{DAYS[1]}")
    world.driver.refresh()
    world.driver.step(lambda _: False)
    assert world.center.status(Slice("a", DAYS[0])).run_state is RunState.READY
    world.stored.act(number, BackfillAction.PAUSE)
    assert world.step() == 0
    world.stored.act(number, BackfillAction.CANCEL)
    assert world.step() == 0
    assert world.generations() == before
    assert world.center.status(Slice("a", DAYS[0])).valid
    assert world.stored.row(number).phase is BackfillPhase.CANCELLED
    assert (world.step(), launcher.groups) == (0, [])
    assert world.events(f"a@{DAYS[0]}").endswith("backfill_requested released restored")


def test_what_is_under_way_when_it_is_cancelled_ends_and_sets_nothing_in_motion(world: BackfillWorld) -> None:
    number = world.plan(f"a@{DAYS[0]}")
    world.step()
    world.stored.act(number, BackfillAction.CANCEL)
    world.step()
    world.finish()
    world.work()
    assert world.progress(number)[f"a@{DAYS[0]}"] == "rebuilt"
    assert world.generations()[f"b@{DAYS[0]}"] == 1
    assert world.stored.row(number).phase is BackfillPhase.CANCELLED


@pytest.mark.parametrize("action", [BackfillAction.PAUSE, BackfillAction.CANCEL])
def test_what_a_person_does_while_the_last_slice_is_settled_disturbs_nobody(
    world: BackfillWorld, action: BackfillAction
) -> None:
    number = world.plan(f"c@{DAYS[1]}")
    world.step()
    world.finish()
    world.driver.refresh()
    world.stored.act(number, action)
    world.driver.step(lambda _: False)
    assert world.progress(number) == {f"c@{DAYS[1]}": "rebuilt"}
    ended = BackfillPhase.DONE if action is BackfillAction.PAUSE else BackfillPhase.CANCELLED
    assert world.stored.row(number).phase is ended


def test_other_slices_go_first_and_backfills_have_a_share_of_a_pool(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = BackfillWorld(tmp_path, launcher, **dict.fromkeys(("a", "b", "c", "d"), "period: day"))
    world.now = NOW.replace(day=3)
    world.fill()
    launcher.runs.clear()
    for name in "abcd":
        world.plan(f"{name}@{DAYS[0]}")
    world.begin("default=4")
    assert (world.step(), len(launcher.runs)) == (2, 2)
    world.finish()
    world.now = NOW.replace(day=4, hour=0)
    world.center.tick()
    launcher.runs.clear()
    world.step()
    assert [launcher.backfills[run] is None for run in launcher.runs] == [True] * 4
    world.work()


def test_a_second_backfill_waits_for_the_first_that_has_the_slice(world: BackfillWorld) -> None:
    first, second = world.plan(f"a@{DAYS[0]}"), world.plan(f"b@{DAYS[0]}")
    world.step()
    assert list(map(str, world.center.under_way())) == [f"a@{DAYS[0]}"]
    assert world.center.backfills.holder(Slice("b", DAYS[0]), second) == first
    world.stored.answer(first, None, rebuild=True)
    world.work()
    world.stored.answer(first, None, rebuild=True)
    world.work()
    assert {world.stored.row(number).phase for number in (first, second)} == {BackfillPhase.DONE}
    assert world.generations()[f"b@{DAYS[0]}"] == 3


def test_what_a_person_rebuilds_meanwhile_still_reaches_slices_outside_of_it(world: BackfillWorld) -> None:
    number = world.plan(f"c@{DAYS[1]}")
    world.step()
    world.tell(f"b@{DAYS[0]}", "completed", "by hand", run="by hand")
    world.work()
    assert world.generations()[f"c@{DAYS[0]}"] == 2
    assert world.progress(number) == {f"c@{DAYS[1]}": "rebuilt"}
    assert world.center.status(Slice("c", DAYS[1])).valid


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("is_cancelled", each(2, [True, False]))
def test_killed_at_any_point_it_goes_on_to_the_same_end(tmp_path: Path, point: str, *, is_cancelled: bool) -> None:
    world = BackfillWorld(tmp_path, FileLauncher(tmp_path / "runs"))
    world.fill()
    number = world.plan(f"a@{DAYS[0]}", f"a@{DAYS[1]}")
    world.step()
    if is_cancelled:
        world.stored.act(number, BackfillAction.CANCEL)
    for nth in range(1, 12):
        world.store.close()
        pid = os.fork()
        if not pid:
            os.environ[ENV_NAME] = f"{point}:{nth % 4 + 1}"
            world.begin()
            world.work()
            os._exit(0)
        if os.WTERMSIG(os.waitpid(pid, 0)[1]) != signal.SIGKILL:
            break
    world.begin()
    world.work()
    world.stored.answer(number, None, rebuild=False)
    world.work()
    assert world.stored.row(number).phase is (BackfillPhase.CANCELLED if is_cancelled else BackfillPhase.DONE)
    moved = {name for name, generation in world.generations().items() if generation == 2}
    rebuilt = {name for name, far in world.progress(number).items() if far == SliceProgress.REBUILT.value}
    assert moved == rebuilt
    assert moved == {name for name in rebuilt if not is_cancelled or name.startswith("a@")}
    assert max(world.generations().values()) == 2
    assert all(world.center.status(Slice.parse(name)).valid for name in world.generations())

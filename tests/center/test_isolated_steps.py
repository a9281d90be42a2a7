"""What one step raises, of whatever class, is that step's alone: the other steps and the other launches go on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NoReturn

import pytest
from sqlalchemy.exc import OperationalError

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import CenterWorld
from tests.center.test_dispatch import dispatch_of
from tidemark.center.center import DependencyCenter
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.errors import ParseError, TerminalError, TidemarkError, TransientError
from tidemark.state_store.errors import FencedError, StateStoreDownError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BAD, GOOD = Slice("bad", "2024-06-02"), Slice("good", "2024-06-02")
OWN: list[type[Exception]] = [TidemarkError, *TidemarkError.__subclasses__(), ParseError]
FOREIGN: list[type[Exception]] = [ValueError, KeyError, OSError, RecursionError, AssertionError, StopIteration]
ERRORS = [*(kind("broken") for kind in (*OWN, *FOREIGN, MemoryError)), OperationalError("SELECT", {}, OSError("gone"))]
ASKED_AGAIN = (TransientError, OperationalError)

pytestmark = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


class BrokenLauncher(MemoryLauncher):
    """Raises for runs of one entity."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error: Exception | None = error

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        if self.error and any(slice_.entity == "bad" for slice_ in slices):
            raise self.error
        super().launch(run_id, slices, pool, backfill)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[CenterWorld]:
    made = CenterWorld(tmp_path, bad="{period: day, start: 2024-06-02}", good="{period: day, start: 2024-06-02}")
    made.center.tick()
    yield made
    made.store.close()


def raising(error: Exception) -> NoReturn:
    raise error


def test_a_launch_fails_alone(world: CenterWorld, error: Exception) -> None:
    launcher = BrokenLauncher(error)
    dispatch = dispatch_of(world, launcher)
    assert dispatch.step() == 1
    assert launcher.groups == [[str(GOOD)]]
    dispatch.step()
    assert launcher.groups == [[str(GOOD)]]
    status = world.center.status(BAD).run_state
    assert status is (RunState.LAUNCHED if isinstance(error, ASKED_AGAIN) else RunState.FAILED)
    assert "broken" in (told := " ".join(dispatch.isolated.summary)) or "gone" in told
    if status is RunState.FAILED:
        assert "its run could not be started" in world.store.read.history(BAD)[-1].why
    launcher.error = None
    world.now += dispatch._policy.wait
    dispatch.step()
    assert launcher.groups == [[str(GOOD)], [str(BAD)]]


def test_after_a_restart_too(world: CenterWorld, error: Exception) -> None:
    """Both were noted, and nobody was asked."""
    for number, slice_ in enumerate((BAD, GOOD)):
        world.center.launch([slice_], f"run {number}", "default")
    world.center, launcher = world.open_center(), BrokenLauncher(error)
    dispatch = dispatch_of(world, launcher)
    for _ in range(2):
        dispatch.step()
        assert launcher.groups == [[str(GOOD)]]
    launcher.error = None
    world.now += dispatch._policy.wait
    dispatch.step()
    assert launcher.groups == [[str(GOOD)], [str(BAD)]]


@pytest.mark.parametrize("step", ["retry", "_busy"])
def test_a_step_of_the_dispatch_fails_alone(
    world: CenterWorld, error: Exception, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = MemoryLauncher()
    dispatch = dispatch_of(world, launcher)
    if step == "_busy":
        monkeypatch.setattr(dispatch._grouping, "groups", lambda _: raising(error))
    else:
        monkeypatch.setattr(dispatch, step, lambda: raising(error))
    if isinstance(error, OperationalError):
        with pytest.raises(OperationalError):
            dispatch.step()
        return
    dispatch.step()
    assert sorted(launcher.groups) == [[str(BAD)], [str(GOOD)]]


def test_a_decision_fails_alone(tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    world = CenterWorld(tmp_path, bad="period: day", good="period: day")
    decide = DependencyCenter._decide

    def broken(center: DependencyCenter, decision: object, staging: object) -> bool:
        if decision.slice.entity == "bad":  # type: ignore[attr-defined]
            raise error
        return decide(center, decision, staging)  # type: ignore[arg-type]

    monkeypatch.setattr(DependencyCenter, "_decide", broken)
    world.center.tick()
    assert {slice_.entity for slice_ in world.center.ready()} == {"good"}
    assert {slice_.entity for slice_ in world.center.undecided} == {"bad"}
    monkeypatch.undo()
    world.center = world.open_center()
    world.center.tick()
    assert {slice_.entity for slice_ in world.center.ready()} == {"bad", "good"}


def test_a_step_of_any_name_fails_alone_but_not_where_no_step_can_do_anything(error: Exception) -> None:
    steps = IsolatedSteps()
    if isinstance(error, OperationalError):
        with pytest.raises(OperationalError):
            steps.run("first", lambda: raising(error), None)
        return
    assert steps.run("first", lambda: raising(error), "nothing") == "nothing"
    assert steps.run("second", lambda: "done", "nothing") == "done"
    assert [*steps.troubles] == ["first"]
    assert steps.summary == [f"first: {type(error).__name__}: {error}"]
    for end in (StateStoreDownError("down"), FencedError("another one")):
        with pytest.raises(type(end)):
            steps.run("third", partial(raising, end), None)
    assert issubclass(TerminalError, TidemarkError)

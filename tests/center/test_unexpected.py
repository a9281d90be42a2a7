"""What nobody foresaw about one report or one stored value harms that report or that slice, nothing else."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal
from typing import TYPE_CHECKING

import pytest

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import NOW, CenterWorld
from tests.center.test_dispatch import dispatch_of
from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.schema import SLICES, TRANSITIONS
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Table

    from tidemark.center.fact import Receipt

FIRST, SECOND = Slice("days", "2024-06-01"), Slice("days", "2024-06-02")


class Unwritable:
    """No JSON can be made of it."""


def start_of(slice_: Slice, **parameters: object) -> Fact:
    data = Facts(run_id="theirs", parameters=parameters)
    return Fact(f"start of {slice_}", slice_, Event.STARTED, NOW, "test", data=data)


def deep(levels: int) -> str:
    return json.dumps({"parameters": {"deep": 0}}).replace("0", "[" * levels + "]" * levels)


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    return CenterWorld(tmp_path, days="period: day")


def overwrite(world: CenterWorld, table: Table, slice_: Slice, **values: object) -> None:
    """Another program, or another version, has written this."""
    rows = (table.c.entity == slice_.entity) & (table.c.key == slice_.key)
    with world.store.database.engine.begin() as connection:
        connection.execute(table.update().where(rows).values(**values))


def test_an_unexpected_error_fails_its_ticket_alone(world: CenterWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are queued while a third holds the center: they share a commit."""
    world.center.tick()
    queued, clock = Signal(), world.center._clock

    def held_up() -> object:
        queued.wait(30)
        return clock()

    monkeypatch.setattr(world.center, "_clock", held_up)
    with ThreadPoolExecutor(3) as threads:
        holder = threads.submit(world.center.tick)
        bad = threads.submit(world.center.report, [start_of(FIRST, value=Unwritable())])
        good = threads.submit(world.center.report, [start_of(SECOND)])
        while len(world.center._queue) < 2:
            assert not holder.done()
        queued.set()
        with pytest.raises(TypeError, match="Unwritable"):
            bad.result(60)
        receipt: Receipt = good.result(60)
    assert receipt.new == 1
    assert [world.center.status(slice_).run_state for slice_ in (FIRST, SECOND)] == [RunState.READY, RunState.RUNNING]
    assert world.open_center().status(SECOND).run_state is RunState.RUNNING


def test_an_unexpected_error_is_raised_to_who_reported_it_and_the_center_goes_on(world: CenterWorld) -> None:
    with pytest.raises(TypeError, match="Unwritable"):
        world.center.report([start_of(FIRST, value=Unwritable())])
    assert world.center.report([start_of(FIRST)]).new == 1


@pytest.mark.parametrize("levels", [1, 500, 977, 2_000, 100_000])
def test_details_that_cannot_be_read_concern_their_slice_only(world: CenterWorld, levels: int) -> None:
    world.center.tick()
    world.center.report([start_of(FIRST)])
    overwrite(world, TRANSITIONS, FIRST, details=deep(levels))
    center, launcher = world.open_center(), MemoryLauncher()
    assert center.status(FIRST).run_state is RunState.RUNNING
    unreadable = center.unreadable()
    assert unreadable.keys() <= {FIRST}
    assert all("details cannot be read (RecursionError" in why for why in unreadable.values())
    assert (FIRST in unreadable) is (levels > 900)
    world.center = center
    dispatch_of(world, launcher).step()
    assert launcher.groups == [[str(SECOND)]]
    assert [transition.event for transition in world.store.read.history(FIRST)][-1] is Event.STARTED


@pytest.mark.parametrize("values", [{"life": "dreaming"}, {"issues": "no slice"}, {"quality": "?"}])
def test_a_slice_with_an_unreadable_status_waits_for_a_backfill(world: CenterWorld, values: dict[str, str]) -> None:
    world.center.tick()
    overwrite(world, SLICES, FIRST, **values)
    world.center, launcher = world.open_center(), MemoryLauncher()
    dispatch = dispatch_of(world, launcher)
    dispatch.step()
    assert launcher.groups == [[str(SECOND)]]
    assert world.center.status(FIRST).run_state is RunState.FAILED
    assert "its stored status cannot be read" in world.center.unreadable()[FIRST]
    world.tell(str(FIRST), "backfill_requested")
    assert world.center.unreadable() == {}
    dispatch.step()
    assert launcher.groups[1:] == [[str(FIRST)]]

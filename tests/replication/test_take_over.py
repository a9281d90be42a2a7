"""A center is lost, and the other one takes its flows over; it comes back, and takes them back. Nothing runs twice."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.project import write_project
from tests.replication.two_centers import TwoCenters
from tidemark.center.center_tick import CenterTick
from tidemark.dependency_model.failover import Permission
from tidemark.dependency_model.slice import Slice
from tidemark.errors import EntityErrors
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import Settings
from tidemark.warehouse.errors import CenterFencedError, FenceUnseenError, NotStoppedError, TakeOverError
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

FIRST = ["2026-03-23", "2026-03-24", "2026-03-25", "2026-03-26"]


@pytest.fixture
def world(tmp_path: Path) -> TwoCenters:
    """`a` has computed four days and replicated them."""
    world = TwoCenters(tmp_path)
    world.a.tick()
    assert world.a.replicate().troubles == {}
    world.b.tick()
    assert (world.a.computed, world.b.computed) == (FIRST, [])
    assert world.b.completed() == FIRST
    for center in (world.a, world.b):
        center.fence.look("a")
    return world


def lose_a(world: TwoCenters) -> None:
    """The first center computes one more day, which is not replicated, and has a run under way. Then it is lost."""
    world.now += timedelta(days=2)
    world.a.center.tick()
    slices = [Slice("sales", "2026-03-27"), Slice("sales", "2026-03-28")]
    assert world.a.fence.may_launch("a")
    for slice_ in slices:
        world.a.begin(slice_)
    world.a.end(slices[0])
    world.now += timedelta(days=1)


def test_a_lost_center_is_replaced_and_takes_its_flows_back(world: TwoCenters) -> None:
    lose_a(world)
    done = world.b.take_over(is_lost=True)
    assert (done.term.number, done.term.holder, done.taken_in) == (2, "b", ())
    world.b.restart()
    world.b.tick()
    assert world.b.computed == ["2026-03-27", "2026-03-28", "2026-03-29"]

    # The first center is back, with the processes that it had: its run may not commit, and nothing is started or sent.
    assert not world.a.fence.may_launch("a")
    with pytest.raises(CenterFencedError, match="the center b computes the flows of a"):
        world.a.end(Slice("sales", "2026-03-28"))
    assert "restart the processes here" in next(iter(world.a.replicate().troubles.values()))
    world.a.restart()
    world.b.replicate()
    world.a.tick()
    world.a.tick()
    assert world.a.completed() == [*FIRST, "2026-03-27", "2026-03-28", "2026-03-29"]
    expected = {**dict.fromkeys(FIRST, "a"), "2026-03-27": "b", "2026-03-28": "b", "2026-03-29": "b"}
    assert world.a.writers() == world.b.writers() == expected

    # It takes its flows back, and the other center sends what it has and confirms.
    back = world.a.take_over(is_lost=False, meanwhile=world.b.replicate)
    assert (back.term.number, back.term.holder, back.term.before) == (3, "a", "b")
    world.a.restart()
    world.now += timedelta(days=1)
    world.b.tick()
    world.a.tick()
    world.a.replicate()
    world.b.restart()
    world.b.tick()
    assert world.a.computed == [*FIRST, "2026-03-27", "2026-03-30"]
    assert world.b.computed == ["2026-03-27", "2026-03-28", "2026-03-29"]
    assert world.a.completed() == world.b.completed() == [*expected, "2026-03-30"]
    assert world.a.writers() == world.b.writers() == {**expected, "2026-03-30": "a"}


def test_a_published_slice_that_the_new_holder_had_not_seen_is_taken_in(world: TwoCenters) -> None:
    world.now += timedelta(days=1)
    world.a.tick()
    world.a.replicate()
    assert world.b.completed() == FIRST
    done = world.b.take_over(is_lost=True)
    assert done.taken_in == (Slice("sales", "2026-03-27"),)
    world.b.restart()
    world.b.tick()
    assert (world.b.computed, world.b.completed()) == ([], [*FIRST, "2026-03-27"])


POINTS = ["take_over.writing", "take_over.written", "take_over.fenced", "take_over.taken_in"]


@pytest.mark.parametrize("point", POINTS)
def test_a_take_over_goes_on_where_it_was_broken_off(world: TwoCenters, point: str) -> None:
    world.now += timedelta(days=1)
    world.a.tick()
    world.a.replicate()

    def crash(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    with patch("tidemark.center.take_over.crash_point", crash), pytest.raises(KeyboardInterrupt):
        world.b.take_over(is_lost=True)
    assert not world.b.fence.may_launch("a")
    world.b.take_over(is_lost=True)
    world.b.restart()
    world.b.tick()
    assert (world.b.computed, world.b.fence.permission("a")) == ([], Permission.HOLDS)
    assert world.b.fence.look("a").term.number == 2


def test_a_living_center_ends_its_runs_first(world: TwoCenters) -> None:
    world.now += timedelta(days=1)
    world.a.center.tick()
    slice_ = Slice("sales", "2026-03-27")
    assert world.a.fence.may_launch("a")
    world.a.begin(slice_)
    with pytest.raises(NotStoppedError, match="a still ends its runs"):
        world.b.take_over(is_lost=False, meanwhile=world.a.replicate)
    assert world.a.fence.permission("a") is Permission.HANDS_OVER
    world.a.end(slice_)
    done = world.b.take_over(is_lost=False, meanwhile=world.a.replicate)
    assert done.taken_in == (slice_,)
    with pytest.raises(CenterFencedError):
        world.a.fence.require_may_finish("a")


def test_a_center_that_does_not_see_the_other_lake_stops(world: TwoCenters) -> None:
    away = world.b.lake.parent.rename(world.folder / "unmounted")
    assert world.a.fence.may_launch("a")  # the last look is from a moment ago
    world.now += timedelta(minutes=2)
    assert not world.a.fence.may_launch("a")
    with pytest.raises(FenceUnseenError, match="lake_b is gone"):
        world.a.fence.require_may_finish("a")
    away.rename(world.b.lake.parent)
    world.now += timedelta(minutes=1)
    assert world.a.fence.may_launch("a")


def test_a_take_over_must_reach_the_other_lake_or_be_told_that_it_is_lost(world: TwoCenters) -> None:
    away = world.a.lake.parent.rename(world.folder / "unmounted")
    with pytest.raises(TakeOverError, match="would not see it"):
        world.b.take_over(is_lost=False)
    assert world.b.take_over(is_lost=True).term.number == 2
    world.b.restart()
    assert world.b.fence.may_launch("a")

    # The first center cannot know it before it sees a lake with the term. It cannot take over from a center that is
    # alone either, because that center would not stop.
    hidden = world.b.lake.parent.rename(world.folder / "hidden")
    away.rename(world.a.lake.parent)
    world.a.restart()
    assert world.a.fence.permission("a") is Permission.UNSURE
    hidden.rename(world.b.lake.parent)
    world.now += timedelta(minutes=1)
    assert world.a.fence.permission("a") is Permission.FENCED
    world.b.lake.parent.rename(hidden)
    with pytest.raises(TakeOverError, match="has not seen this lake since"):
        world.a.take_over(is_lost=True)


def test_a_copy_that_was_delayed_is_not_published_in_a_later_term(world: TwoCenters) -> None:
    world.now += timedelta(days=1)
    world.a.tick()

    def take_over(name: str) -> None:
        if name == "replicate.before_publish":
            world.b.take_over(is_lost=True)

    with patch("tidemark.replication.slice_replication.crash_point", take_over):
        report = world.a.replicate()
    assert "has taken over the table" in report.troubles[Slice("sales", "2026-03-27")]
    assert list(world.b.writers()) == FIRST


def test_the_running_center_says_that_it_is_fenced_and_what_to_do(world: TwoCenters) -> None:
    tick = CenterTick(world.a.warehouse, "center")
    tick.fence.refresh(["a"])
    assert (tick.may_launch("sales"), tick.flow_troubles()) == (True, [])
    world.b.take_over(is_lost=True)
    tick.fence.refresh(["a"])
    assert (tick.may_launch("sales"), tick.may_launch("another table")) == (False, True)
    assert tick.flow_troubles() == ["b has taken over the flows of a in term 2: restart this process"]
    shown = tick.fence.read("a").newest
    assert (shown.holder, shown.who, shown.why) == ("b", "ann", "power failure")
    tick.store.close()


def test_a_captured_table_has_no_center_and_a_center_needs_a_name(tmp_path: Path) -> None:
    captured = "period: day\ncenter: a\nkey: [id]\nsource: {table: shop.orders, instances: [x]}\n"
    declared = {"ods/orders.yaml": captured, "dwd/sales.yaml": "period: day\ncenter: c\n", "dwd/sales.sql": "SELECT 1"}
    settings = "center: b\nreplicas: {a: {lake: lake_a, stand_in: true}}\n"
    root = write_project(tmp_path, declared, settings)
    with pytest.raises(EntityErrors) as told:
        load_warehouse(Settings.load({ROOT_VARIABLE: str(root)}))
    text = str(told.value)
    assert "only a table that is computed by period belongs to a center" in text

"""Ready slices to runs: in order, where there is room, together, once - and again after a failure, but not for ever."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import NOW, CenterWorld
from tests.dependency_model.world import entity, graph
from tidemark.center.dispatch import Dispatch
from tidemark.center.errors import PoolError
from tidemark.center.launch_order import chain_lengths
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.center.run_grouping import exact_part
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.compaction import compact
from tidemark.system.errors import PoolSettingError

if TYPE_CHECKING:
    from pathlib import Path


def dispatch_of(world: CenterWorld, launcher: MemoryLauncher, pools: str = "default=9", **policy: int) -> Dispatch:
    chosen = LaunchPolicy(wait=timedelta(minutes=5), **policy)
    return Dispatch(world.center, launcher, Pools.parse(pools), policy=chosen, clock=lambda: world.now)


@pytest.fixture
def launcher() -> MemoryLauncher:
    return MemoryLauncher()


def test_neighbours_in_time_share_a_run(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, hours="period: hour")
    world.now = NOW.replace(day=1, hour=3)
    dispatch = dispatch_of(world, launcher, together=2)
    world.center.tick()
    assert dispatch.step() == 2
    hours = [f"hours@2024-06-01T0{hour}" for hour in (2, 3, 4)]
    assert launcher.groups == [hours[:2], hours[2:]]
    assert dispatch.step() == 0


def test_where_there_is_no_room_entities_at_the_same_times_share_a_run(
    tmp_path: Path, launcher: MemoryLauncher
) -> None:
    names = dict.fromkeys("abcde", "period: day")
    world = CenterWorld(tmp_path, **names, z="{period: day, tags: {pool: other}}")
    world.now = NOW.replace(day=2, hour=0)
    dispatch = dispatch_of(world, launcher, "default=2, other=1", together=1, across=3)
    world.center.tick()
    dispatch.step()
    day = "2024-06-01"
    assert launcher.groups[:2] == [[f"{name}@{day}" for name in "abc"], [f"d@{day}", f"e@{day}"]]
    assert launcher.groups[2:] == [[f"z@{day}"]]


def test_the_last_of_many_are_spread_over_all_places(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, **dict.fromkeys("abcdefghi", "period: day"))
    world.now = NOW.replace(day=2, hour=0)
    dispatch = dispatch_of(world, launcher, "default=3", together=1, across=16)
    world.center.tick()
    dispatch.step()
    assert [len(group) for group in launcher.groups] == [3, 3, 3]


def test_where_there_is_room_each_entity_has_its_run(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, a="period: day", b="period: day")
    world.now = NOW.replace(day=2, hour=0)
    world.center.tick()
    assert dispatch_of(world, launcher, across=3).step() == 2


def test_nothing_is_launched_while_another_center_has_the_entity(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world, allowed = CenterWorld(tmp_path, a="period: day", b="period: day"), {"b"}
    world.now = NOW.replace(day=2, hour=0)
    world.center.tick()

    def dispatch() -> Dispatch:
        return Dispatch(
            world.center, launcher, Pools({"default": 9}), clock=lambda: world.now, may_launch=allowed.__contains__
        )

    launcher.is_down = True
    dispatch().step()  # a stored launch of b, which is requested again later
    launcher.is_down, allowed = False, set()
    assert (dispatch().step(), launcher.groups) == (0, [])
    allowed = {"a", "b"}
    dispatch().step()
    assert sorted(launcher.groups) == [["a@2024-06-01"], ["b@2024-06-01"]]


def test_a_launch_that_broke_off_is_asked_for_again_under_its_id(
    tmp_path: Path, launcher: MemoryLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = CenterWorld(tmp_path, a="period: day")
    world.now = NOW.replace(day=2, hour=0)
    world.center.tick()
    dispatch, asked = dispatch_of(world, launcher), list[str]()

    def broken(run_id: str, *_: object) -> None:
        asked.append(run_id)
        raise RuntimeError("the connection was lost")

    with monkeypatch.context() as patch:
        patch.setattr(launcher, "launch", broken)
        dispatch.step()
        assert "RuntimeError: the connection was lost" in dispatch.isolated.summary[0]
    dispatch.step()
    assert [run for run, _ in world.center.under_way().values()] == asked
    assert launcher.groups == [["a@2024-06-01"]]


def test_the_longest_chain_goes_first_and_pools_have_an_end(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(
        tmp_path,
        leaf="period: day",
        root="period: day",
        middle="{period: day, depends_on: [root]}",
        end="{period: day, depends_on: [middle]}",
    )
    world.center.tick()
    dispatch = dispatch_of(world, launcher, "default=1", together=1)
    assert (dispatch.step(), launcher.groups) == (1, [["root@2024-06-01"]])
    assert dispatch.step() == 0
    world.tell("root@2024-06-01", "completed", run=next(iter(launcher.runs)))
    assert (dispatch.step(), launcher.groups[1:]) == (1, [["root@2024-06-02"]])
    assert chain_lengths(world.graph) == {"leaf": 1, "root": 3, "middle": 2, "end": 1}


def test_the_least_busy_pool_that_is_allowed_is_taken() -> None:
    pools = Pools.parse("etl=4, adhoc=2")
    both = entity("x", "{period: day, tags: {pool: 'etl, adhoc'}}")
    assert pools.choose(pools.allowed_pools(both), Counter(etl=3, adhoc=1)) == "adhoc"
    assert pools.choose(pools.allowed_pools(both), Counter(etl=1, adhoc=1)) == "etl"
    assert pools.choose(pools.allowed_pools(both), Counter(etl=4, adhoc=2)) is None
    assert pools.allowed_pools(entity("y", "period: day")) == ("default",)


def test_a_pool_that_there_is_not_is_told() -> None:
    with pytest.raises(PoolError, match=r"x has an unknown pool: expected one of default, etl, found elt - .*etl"):
        Pools.parse("etl=4").allowed_pools(entity("x", "{period: day, tags: {pool: elt}}"))
    for text in ("etl", "etl=0", "=3", "etl=x"):
        with pytest.raises(PoolSettingError, match="names with capacities"):
            Pools.parse(text)


def test_a_wrong_pool_holds_its_own_slices_only(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, good="period: day", bad="{period: day, tags: {pool: nowhere}}")
    world.center.tick()
    dispatch = dispatch_of(world, launcher)
    assert (dispatch.step(), launcher.groups) == (1, [["good@2024-06-01", "good@2024-06-02"]])
    assert list(dispatch.without_pool) == ["bad"]


def test_a_failure_is_tried_again_after_a_while_and_then_no_more(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, days="period: day")
    world.center.tick()
    dispatch, day = dispatch_of(world, launcher), Slice("days", "2024-06-01")
    for attempt in range(2):
        dispatch.step()
        run = [run for run, (slices, _) in launcher.runs.items() if str(day) in slices][attempt]
        world.tell(str(day), "failed", run=run)
        world.now += timedelta(minutes=4)
        dispatch.step()
        assert world.center.status(day).run_state is RunState.FAILED
        world.now += timedelta(minutes=1)
    dispatch.step()
    assert (dispatch.retries_exhausted(), world.center.failed_slices()) == ([day], [day])
    assert [slices for slices in launcher.groups if str(day) in slices] == [[str(day), "days@2024-06-02"], [str(day)]]
    world.tell(str(day), "backfill_requested")
    assert (dispatch.step(), dispatch.retries_exhausted()) == (1, [])


def exhausted(world: CenterWorld, launcher: MemoryLauncher, slices: int) -> Dispatch:
    """So many slices have failed as often as they may."""
    world.now = NOW.replace(day=1) + timedelta(hours=slices)
    world.center.tick()
    dispatch = dispatch_of(world, launcher, together=31)
    for _ in range(2):
        while dispatch.step():
            for run in [run for run, (members, _) in launcher.runs.items() if members]:
                for text in launcher.runs[run][0]:
                    if world.center.status(Slice.parse(text)).run_state is not RunState.FAILED:
                        world.tell(text, "failed", run=run)
        world.now += timedelta(minutes=6)
    return dispatch


def test_exhausted_retries_cost_no_query_a_tick(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, hours="period: hour")
    dispatch = exhausted(world, launcher, 40)
    assert len(dispatch.retries_exhausted()) >= 38
    asked: list[str] = []
    event.listen(world.store.database.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    assert dispatch.step() == 0
    assert dispatch.retries_exhausted()
    assert asked == []


def test_compaction_launches_nothing_again(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, hours="period: hour")
    before = exhausted(world, launcher, 10).retries_exhausted()
    assert compact(world.store.database, datetime.now(UTC) + timedelta(days=9)) > 0
    world.center = world.open_center()
    dispatch = dispatch_of(world, launcher)
    dispatch.recover()
    assert dispatch.step() == 0
    assert sorted(map(str, dispatch.retries_exhausted())) == sorted(map(str, before))


def test_a_launcher_that_does_not_answer_is_asked_again_with_the_same_id(
    tmp_path: Path, launcher: MemoryLauncher
) -> None:
    world = CenterWorld(tmp_path, days="{period: day}")
    world.center.tick()
    dispatch, launcher.is_down = dispatch_of(world, launcher), True
    assert dispatch.step() == 0
    launcher.is_down = False
    dispatch.step()
    assert list(launcher.runs) == list({run for run, _ in world.center.under_way().values()})
    assert launcher.groups == [["days@2024-06-01", "days@2024-06-02"]]


def test_an_orphaned_run_is_launched_again(tmp_path: Path, launcher: MemoryLauncher) -> None:
    world = CenterWorld(tmp_path, days="{period: day}")
    world.center.tick()
    dispatch = dispatch_of(world, launcher)
    dispatch.step()
    (run,) = launcher.runs
    world.tell("days@2024-06-01", "completed", run=run)
    world.tell("days@2024-06-02", "lost", run=run)
    assert (dispatch.step(), launcher.groups[1:]) == (1, [["days@2024-06-02"]])
    world.tell("days@2024-06-02", "failed", run=run)
    assert world.center.status(Slice("days", "2024-06-02")).run_state is RunState.LAUNCHED


def test_a_launch_that_was_written_down_is_asked_for_by_whoever_starts_again(
    tmp_path: Path, launcher: MemoryLauncher
) -> None:
    world = CenterWorld(tmp_path, days="{period: day}")
    world.center.tick()
    day = Slice("days", "2024-06-01")
    world.center.launch([day], "noted", "default")
    world.center = world.open_center()
    dispatch_of(world, launcher).step()
    assert launcher.runs["noted"] == (["days@2024-06-01"], "default")
    assert len(launcher.runs) == 2


def test_cycles_in_time_have_no_endless_chain() -> None:
    world = graph(a='{period: day, depends_on: [{entity: b, offset: "Set -1"}]}', b="{period: day, depends_on: [a]}")
    assert set(chain_lengths(world)) == {"a", "b"}


def test_while_nobody_takes_runs_a_step_goes_on(tmp_path: Path, launcher: MemoryLauncher) -> None:
    """What a tick does behind it, alerts first of all, does not wait for workers."""
    world = CenterWorld(tmp_path, a="period: day")
    world.center.tick()
    launcher.is_down = True
    dispatch = dispatch_of(world, launcher)
    assert dispatch.step() == 0
    assert dispatch.step() == 0
    again = dispatch_of(world, launcher)
    again.recover()
    assert again.step() == 0
    launcher.is_down = False
    again.step()
    assert launcher.groups


def test_what_falls_out_of_a_launch_is_not_computed_with_its_neighbours(
    tmp_path: Path, launcher: MemoryLauncher
) -> None:
    world = CenterWorld(tmp_path, days="period: day")
    world.now = NOW.replace(day=4)
    dispatch = dispatch_of(world, launcher, together=7)
    world.center.tick()
    launcher.is_down = True
    assert dispatch.step() == 0
    for told in ("started", "completed"):
        world.tell("days@2024-06-02", told, run="by hand")
    launcher.is_down = False
    dispatch.step()
    dispatch.step()
    assert sorted(launcher.groups) == [["days@2024-06-01"], ["days@2024-06-03"]]
    assert world.center.status(Slice("days", "2024-06-02")).generation == 1


@pytest.mark.parametrize(
    ("slices", "exact"),
    [
        ("a@2024-06-01 a@2024-06-02", "a@2024-06-01 a@2024-06-02"),
        ("a@2024-06-01 a@2024-06-03", "a@2024-06-01"),
        ("a@2024-06-01 b@2024-06-01", "a@2024-06-01 b@2024-06-01"),
        ("a@2024-06-01 a@2024-06-02 b@2024-06-01", "a@2024-06-01 a@2024-06-02"),
        ("a@2024-06-01 b@2024-06-02", "a@2024-06-01"),
        (
            "a@2024-06-01 a@2024-06-03 b@2024-06-01 c@2024-06-01 c@2024-06-03",
            "a@2024-06-01 b@2024-06-01",
        ),
    ],
)
def test_a_run_holds_exactly_what_a_range_of_times_and_assets_names(slices: str, exact: str) -> None:
    days = graph(**dict.fromkeys("abc", "period: day"))
    assert exact_part(days, [Slice.parse(text) for text in slices.split()]) == [
        Slice.parse(text) for text in exact.split()
    ]

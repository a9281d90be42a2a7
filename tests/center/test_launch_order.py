"""What is launched first: the smallest margin, what can still be kept before what cannot, else the longest chain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import CenterWorld
from tests.center.test_dispatch import dispatch_of
from tidemark.center import launch_order
from tidemark.center.launch_order import ChainOrder, MarginOrder
from tidemark.center.typical_times import TypicalTimes
from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_DAY = "2024-06-01"
_MIDNIGHT = datetime(2024, 6, 2, tzinfo=UTC)


def _world(folder: Path, **texts: str) -> CenterWorld:
    world = CenterWorld(folder, **{name: f"{{period: day, time_zone: UTC{text}}}" for name, text in texts.items()})
    world.now = _MIDNIGHT
    world.center.tick()
    return world


def _order(world: CenterWorld) -> MarginOrder:
    return MarginOrder(world.center, TypicalTimes(world.graph, world.store.database), lambda: world.now)


def _sorted(world: CenterWorld, order: MarginOrder | ChainOrder) -> list[str]:
    groups = [[slice_] for slice_ in world.center.ready() if slice_.key == _DAY]
    return [group[0].entity for group in order.sort(groups)]


def test_the_smallest_margin_goes_before_the_longest_chain(tmp_path: Path) -> None:
    world = _world(
        tmp_path,
        long_1="",
        long_2=", depends_on: [long_1]",
        long_3=", depends_on: [long_2]",
        soon_1="",
        soon_2=', depends_on: [soon_1], ready_by: "02:00"',
        late_1="",
        late_2=', depends_on: [late_1], ready_by: "09:00"',
    )
    assert _sorted(world, ChainOrder(world.center))[0] == "long_1"
    assert _sorted(world, _order(world)) == ["soon_1", "late_1", "long_1"]
    launcher = MemoryLauncher()
    dispatch_of(world, launcher, "default=1", together=1).step()
    assert launcher.groups == [[f"soon_1@{_DAY}"]]


def test_what_comes_too_late_in_any_case_holds_up_nothing(tmp_path: Path) -> None:
    world = _world(tmp_path, lost=', ready_by: "00:30"', kept=', ready_by: "06:00"', none="")
    world.now += timedelta(hours=1)
    assert _sorted(world, _order(world)) == ["kept", "lost", "none"]


def test_without_promises_the_chain_decides_and_nothing_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _world(tmp_path, a="", b=", depends_on: [a]", c="", d="", e=", depends_on: [d]", f=", depends_on: [e]")

    def fail(*_: object) -> None:
        raise AssertionError("nothing is promised")

    monkeypatch.setattr(TypicalTimes, "refresh", fail)
    assert _sorted(world, _order(world)) == _sorted(world, ChainOrder(world.center)) == ["d", "a", "c"]


def test_durations_are_those_of_the_last_runs(tmp_path: Path) -> None:
    world = _world(tmp_path, slow=', ready_by: "05:00"', quick=', ready_by: "04:00"')
    for name, hours in (("slow", 3), ("quick", 1)):
        text = f"{name}@{_DAY}"
        world.center.launch([Slice.parse(text)], f"run of {name}", "default")
        began = world.now
        world.now += timedelta(hours=hours)
        world.tell(text, "completed", run=f"run of {name}", event_time=world.now)
        world.now = began
    order = _order(world)
    world.now = _MIDNIGHT + timedelta(days=1)
    world.center.tick()
    groups = [[slice_] for slice_ in world.center.ready()]
    assert [group[0].entity for group in order.sort(groups)] == ["slow", "quick"]
    assert order._latest.get(Slice("slow", "2024-06-02")) == world.now + timedelta(hours=2)


def test_a_step_looks_at_so_many_slices_and_the_next_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_order, "LOOKED_AT", 3)
    names = {f"t{number}": f', ready_by: "0{number}:00"' for number in range(1, 8)}
    world = _world(tmp_path, **dict(reversed(names.items())))
    order = _order(world)
    first = _sorted(world, order)
    for _ in range(3):
        last = _sorted(world, order)
    assert sorted(first) == last == sorted(names)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_latest_starts_are_those_of_a_slow_recursion(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    count = data.draw(st.integers(2, 8))
    texts, needs = {}, {}
    for number in range(count):
        above = data.draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set[int]()
        needs[f"t{number}"] = [f"t{up}" for up in sorted(above)]
        hour = data.draw(st.none() | st.integers(1, 20))
        promise = "" if hour is None else f', ready_by: "{hour:02}:00"'
        texts[f"t{number}"] = f", depends_on: [{', '.join(needs[f't{number}'])}]{promise}"
    world = _world(tmp_path_factory.mktemp("world"), **texts)
    order, seconds = _order(world), {name: float(60 * (at + 1)) for at, name in enumerate(texts)}
    order._times.seconds = seconds.__getitem__  # type: ignore[assignment,method-assign]
    ready = [slice_ for slice_ in world.center.ready() if slice_.key == _DAY]
    order.sort([[slice_] for slice_ in ready])

    def latest(name: str) -> datetime | None:
        slice_ = Slice(name, _DAY)
        own = ready_by(world.graph.entity(name), world.graph.window(slice_))
        ends = [own, *(latest(down) for down, above in needs.items() if name in above)]
        told = [end for end in ends if end is not None]
        return min(told) - timedelta(seconds=seconds[name]) if told else None

    if len(ready) > 1:
        assert {slice_.entity: order._latest.get(slice_) for slice_ in ready} == {
            slice_.entity: latest(slice_.entity) for slice_ in ready
        }


def test_what_an_entity_that_is_gone_took_is_passed_over(tmp_path: Path) -> None:
    world = _world(tmp_path, kept=', ready_by: "05:00"', gone=', ready_by: "04:00"')
    world.graph.remove("gone")
    times = TypicalTimes(world.graph, world.store.database)
    times.refresh()
    assert times.seconds("kept") == times.seconds("gone") == 0.0

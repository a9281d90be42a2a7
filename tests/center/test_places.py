"""The dispatch takes the least busy place that fits a slice, and waits, with the reason, while all are full or away."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import CenterWorld
from tidemark.center.dispatch import Dispatch
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.place_probes import PlaceSight
from tidemark.center.places import Places
from tidemark.center.pools import Pools
from tidemark.crawl.errors import ProbeError
from tidemark.state_store.place_waits import place_waits
from tidemark.system.run_places import PlaceKind, RunPlace

if TYPE_CHECKING:
    from pathlib import Path

DAYS = "{period: day, tags: {pool: 'east, west'}}"
REGIONS = "{period: day, tags: {pool: 'east, west'}, sub_partitions: {region: {eu: {}, us: {}}}}"


class PlacesWorld:
    """Two places whose room is set by hand; the places are asked at each step."""

    def __init__(self, folder: Path, *, takes: bool = False, **texts: str) -> None:
        self.center_world = CenterWorld(folder, **texts)
        self.room: dict[str, PlaceSight | Exception] = {}
        self.now = 0.0
        self.launcher = MemoryLauncher()
        regions = {"east": "eu", "west": "us"}
        declared = {
            name: RunPlace(
                name,
                PlaceKind.STANDALONE,
                f"spark://{name}:7077",
                f"http://{name}",
                takes=(("region", (region,)),) if takes else (),
            )
            for name, region in regions.items()
        }
        places = Places(declared, {}, self._look, lambda: self.now, wait_seconds=30)
        pools = Pools({"default": 1, "east": 4, "west": 2}, places)
        policy = LaunchPolicy(together=1)
        self.dispatch = Dispatch(
            self.center_world.center,
            self.launcher,
            pools,
            policy=policy,
            clock=lambda: self.center_world.now,
        )
        self.center_world.center.tick()

    def step(self, **room: int | Exception) -> list[str]:
        """The places of the runs that a step asks for, with this room in the places."""
        self.room.update(
            {
                name: given if isinstance(given, Exception) else PlaceSight(given, "other programs use 7 of 8 cores")
                for name, given in room.items()
            }
        )
        self.now += 10
        before = len(self.launcher.runs)
        self.dispatch.step()
        return [pool for _, pool in self.launcher.runs.values()][before:]

    @property
    def waits(self) -> dict[str, str]:
        return place_waits(self.center_world.store.database).all()

    def _look(self, place: RunPlace, _token: str) -> PlaceSight:
        told = self.room[place.name]
        if isinstance(told, Exception):
            raise told
        return told


def test_the_place_with_the_largest_free_share_is_taken(tmp_path: Path) -> None:
    world = PlacesWorld(tmp_path, days=DAYS, more=DAYS, other=DAYS)
    assert world.step(east=1, west=2) == ["west", "west", "east"]


def test_slices_wait_while_all_places_are_full_or_away_and_say_why(tmp_path: Path) -> None:
    world = PlacesWorld(tmp_path, days=DAYS, free="period: day")
    away = ProbeError("the server did not answer", found="refused")
    assert world.step(east=0, west=away) == ["default"]
    why = "east has no room: other programs use 7 of 8 cores; west has no room: it is away: the server did not answer"
    assert world.waits == {"days@": f"{why}: found refused"}
    assert world.step(east=ValueError("x"), west=0) == []
    assert "its answer is not understood (ValueError)" in world.waits["days@"]
    assert world.step(east=4, west=away) == ["east", "east"]
    assert world.waits == {}


def test_a_place_is_full_with_the_runs_that_it_has(tmp_path: Path) -> None:
    world = PlacesWorld(tmp_path, a=DAYS, b=DAYS, c=DAYS, d=DAYS)
    assert sorted(world.step(east=9, west=9)) == ["east"] * 4 + ["west"] * 2
    assert set(world.waits.values()) == {"east is full with 4 runs; west is full with 2 runs"}
    assert world.step(east=9, west=9) == []


def test_a_slice_goes_to_the_place_that_takes_its_part_or_tag(tmp_path: Path) -> None:
    tagged = "{period: day, tags: {pool: 'east, west', region: us}}"
    world = PlacesWorld(tmp_path, takes=True, days=REGIONS, us=tagged, none=DAYS)
    assert set(world.step(east=4, west=2)) == {"east", "west"}
    placed = {text: pool for slices, pool in world.launcher.runs.values() for text in slices}
    assert {pool for text, pool in placed.items() if "region=eu" in text} == {"east"}
    assert {pool for text, pool in placed.items() if "region=eu" not in text} == {"west"}
    assert not any(text.startswith("none@") for text in placed)
    assert world.waits["none@"] == "east does not take it; west does not take it"


def test_a_place_that_hangs_holds_no_step_and_counts_as_away_after_a_minute() -> None:
    now, hangs, asked = [0.0], Event(), list[str]()

    def ask(place: RunPlace, _token: str) -> PlaceSight:
        asked.append(place.name)
        if len(asked) > 1:
            hangs.wait(30)
        return PlaceSight(3, "")

    place = RunPlace("east", PlaceKind.STANDALONE, "spark://east:7077", "http://east")
    places = Places({"east": place}, {}, ask, lambda: now[0], wait_seconds=30)
    assert places.sight("east") == PlaceSight(0, "it was not asked yet")
    places.look()
    assert places.sight("east") == PlaceSight(3, "")
    waiting = Places({"east": place}, {}, ask, lambda: now[0])
    waiting.look()
    assert waiting.sight("east") == PlaceSight(0, "it was not asked yet")
    for now[0] in (10.0, 59.0):
        waiting.look()
    assert asked == ["east", "east"]
    now[0] = 61.0
    assert places.sight("east") == PlaceSight(0, "it has not answered for 60 seconds")
    hangs.set()

"""A center is healthy while each condition is seen to hold; never is not just now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.center.health import HealthCondition, HealthWatch, StoredHealth
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path


class Watched:
    def __init__(self) -> None:
        self.now = 1_000.0
        self.health = HealthWatch(lambda: self.now)
        self.health.begin(HealthCondition.TICKS, HealthCondition.WORKERS)

    def work(self, seconds: int, *holding: HealthCondition) -> list[str]:
        for _ in range(seconds):
            self.now += 1
            for condition in HealthCondition:
                self.health.saw(condition, holds=condition in holding)
        return self.health.troubles()


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_all_is_well_while_everything_holds(watched: Watched) -> None:
    assert watched.work(300, *HealthCondition) == []


@pytest.mark.parametrize("condition", HealthCondition)
def test_what_never_held_is_a_trouble_after_a_minute(watched: Watched, condition: HealthCondition) -> None:
    others = [other for other in HealthCondition if other is not condition]
    assert watched.work(60, *others) == []
    assert watched.work(1, *others) == [f"{condition.value} for 61 s"]
    assert watched.work(1, *HealthCondition) == []


def test_a_loop_that_hangs_looks_at_nothing_and_all_of_it_is_a_trouble(watched: Watched) -> None:
    watched.work(100, *HealthCondition)
    watched.now += 61
    assert len(watched.health.troubles()) == len(HealthCondition)


def test_a_center_that_stands_by_needs_no_ticks_and_no_workers(watched: Watched) -> None:
    watched.health.end(HealthCondition.TICKS, HealthCondition.WORKERS)
    assert watched.work(300, HealthCondition.LED) == []
    assert watched.work(61) == [f"{HealthCondition.LED.value} for 61 s"]
    watched.work(1, HealthCondition.LED)
    watched.health.begin(HealthCondition.TICKS)
    assert watched.work(60, HealthCondition.LED) == []
    assert watched.work(1, HealthCondition.LED) == [f"{HealthCondition.TICKS.value} for 61 s"]


def test_troubles_are_stored_when_they_begin_and_end_and_every_half_minute(tmp_path: Path) -> None:
    database, now = Database.at(tmp_path / "state.db"), [0.0]
    try:
        stored, reader = StoredHealth(database, lambda: now[0]), StoredHealth(database)
        seen = []
        for second, troubles in [(0, []), (70, ["a for 61 s"]), (75, ["a for 66 s"]), (100, ["a for 91 s"]), (101, [])]:
            now[0] = second
            stored.put(troubles)
            seen.append(reader.get())
        assert seen == ["", "a for 61 s", "a for 61 s", "a for 91 s", ""]
        StoredHealth(database).put(["b"])
        StoredHealth(database).put([])
        assert reader.get() == "", "a new center removes what the one before it stored"
    finally:
        database.close()

"""A center is healthy while each condition is seen to hold; never is not just now."""

from __future__ import annotations

import pytest

from tidemark.center.health import Condition, HealthWatch


class Watched:
    def __init__(self) -> None:
        self.now = 1_000.0
        self.health = HealthWatch(lambda: self.now)
        self.health.begin(Condition.TICKS, Condition.WORKERS)

    def work(self, seconds: int, *holding: Condition) -> list[str]:
        for _ in range(seconds):
            self.now += 1
            for condition in Condition:
                self.health.saw(condition, holds=condition in holding)
        return self.health.troubles()


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_all_is_well_while_everything_holds(watched: Watched) -> None:
    assert watched.work(300, *Condition) == []


@pytest.mark.parametrize("condition", Condition)
def test_what_never_held_is_a_trouble_after_a_minute(watched: Watched, condition: Condition) -> None:
    others = [other for other in Condition if other is not condition]
    assert watched.work(60, *others) == []
    assert watched.work(1, *others) == [f"{condition.value} for 61 s"]
    assert watched.work(1, *Condition) == []


def test_a_loop_that_hangs_looks_at_nothing_and_all_of_it_is_a_trouble(watched: Watched) -> None:
    watched.work(100, *Condition)
    watched.now += 61
    assert len(watched.health.troubles()) == len(Condition)


def test_a_center_that_stands_by_needs_no_ticks_and_no_workers(watched: Watched) -> None:
    watched.health.end(Condition.TICKS, Condition.WORKERS)
    assert watched.work(300, Condition.LED) == []
    assert watched.work(61) == [f"{Condition.LED.value} for 61 s"]
    watched.work(1, Condition.LED)
    watched.health.begin(Condition.TICKS)
    assert watched.work(60, Condition.LED) == []
    assert watched.work(1, Condition.LED) == [f"{Condition.TICKS.value} for 61 s"]

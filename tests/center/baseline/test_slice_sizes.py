"""Inputs of unusual size: known before a run begins, and felt as far as the runs before say so."""

from __future__ import annotations

import random
from datetime import timedelta
from math import exp
from typing import TYPE_CHECKING

import pytest

from tests.center.baseline.baseline_world import BaselineWorld
from tidemark.center.baseline.slice_sizes import SliceSizes
from tidemark.dependency_model.baseline.promise import PromiseState
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.center.baseline import Baseline

_DAY = 86_400.0


def _sizes(*rows: int) -> SliceSizes:
    sizes = SliceSizes()
    for day, count in enumerate(rows):
        sizes.note(Slice("up", f"day {day}"), count, day * _DAY, (day % 7,))
    return sizes


def _times_usual(sizes: SliceSizes, day: int) -> float:
    rows, usual = sizes.rows(Slice("up", f"day {day}")), sizes.usual(Slice("up", f"day {day}"))
    assert rows is not None
    assert usual is not None
    return rows / usual


def test_a_slice_is_compared_with_the_others_of_its_entity() -> None:
    sizes = _sizes(*[1_000] * 20, 10_000, 1_100)
    assert _times_usual(sizes, 20) == pytest.approx(10, rel=0.05)
    assert _times_usual(sizes, 21) == 1.0
    assert sizes.expected("up", 22 * _DAY, (1,)) == pytest.approx(1_000, rel=0.05)


def test_of_what_nobody_told_nothing_is_known() -> None:
    sizes = _sizes(1_000)
    assert _times_usual(sizes, 0) == 1.0
    for slice_ in (Slice("other", "day 0"), Slice("up", "day 9")):
        assert (sizes.rows(slice_), sizes.usual(slice_)) == (None, None)
    assert sizes.expected("other", 0.0, (0,)) is None


def test_a_weekly_rhythm_is_nothing_unusual() -> None:
    sizes = _sizes(*[200 if day % 7 > 4 else 1_000 for day in range(28)])
    assert all(_times_usual(sizes, day) == 1.0 for day in range(28))


def test_a_slice_that_is_written_again_has_its_new_size() -> None:
    sizes = _sizes(*[1_000] * 10, 50)
    assert _times_usual(sizes, 10) < 0.1
    sizes.note(Slice("up", "day 10"), 1_000, 11 * _DAY, (3,))
    assert _times_usual(sizes, 10) == 1.0


class _SizedWorld(BaselineWorld):
    def live_sized(self, rows: list[int], seconds_of: Callable[[int], float]) -> None:
        """Days from the second of June on, each with so many rows; what computes them takes what its rows say."""
        for day, count in enumerate(rows, 2):
            key = f"2024-06-{day - 1:02}"
            self.arrive(day, count)
            for name, minute in (("dwd", 20), ("ads", 50)):
                self.at(day, 0, minute)
                self.launch(f"{name}@{key}")
                self.now += timedelta(seconds=seconds_of(count))
                self.report(f"{name}@{key}", "completed", data=Facts(row_count=count))

    def arrive(self, day: int, count: int) -> None:
        self.at(day, 0, 20)
        self.report(f"ext@2024-06-{day - 1:02}", "observed", data=Facts(row_count=count))


def _today(world: BaselineWorld) -> Baseline:
    return next(baseline for baseline in world.baselines().all() if baseline.slice == Slice("ads", "2024-06-28"))


def _minutes_of_dwd(world: BaselineWorld) -> float:
    step = next(step for step in _today(world).path if step.slice.entity == "dwd")
    following = next(step for step in _today(world).path if step.slice.entity == "ads")
    return (following.start - step.start).total_seconds() / 60


def _minutes_of_ads(world: BaselineWorld) -> float:
    told = _today(world)
    assert told.p50 is not None
    return (told.p50 - told.path[-1].start).total_seconds() / 60


def test_a_tenfold_input_takes_as_much_longer_as_earlier_days_say(tmp_path: Path) -> None:
    chance = random.Random(1)
    rows = [round(1_000 * exp(chance.gauss(0, 0.05))) for _ in range(27)]
    rows[4], rows[9], rows[13] = 3_000, 5_000, 4_000
    linear, overhead = _SizedWorld(tmp_path / "linear"), _SizedWorld(tmp_path / "overhead")
    linear.live_sized(rows, lambda count: 0.3 * count)
    overhead.live_sized(rows, lambda count: 290.0 + 0.01 * count)
    for world in (linear, overhead):
        world.arrive(29, 10_000)
        world.at(29, 0, 21)
    assert _minutes_of_dwd(linear) == pytest.approx(50, rel=0.3)
    assert _minutes_of_dwd(overhead) == pytest.approx(5, rel=0.5)
    assert _minutes_of_ads(linear) == pytest.approx(50, rel=0.5), "it reads what is not there yet, and will be large"
    assert _minutes_of_ads(overhead) == pytest.approx(5, rel=0.5)


@pytest.mark.parametrize(("rows", "state"), [(1_100, PromiseState.SAFE), (30_000, PromiseState.OVER)])
def test_a_promise_is_told_to_be_late_before_the_large_run_begins(
    tmp_path: Path, rows: int, state: PromiseState
) -> None:
    world = _SizedWorld(tmp_path)
    before = [1_000] * 27
    before[4], before[9], before[13] = 3_000, 2_500, 2_000
    world.live_sized(before, lambda count: 0.3 * count)
    world.arrive(29, rows)
    world.at(29, 0, 21)
    told = _today(world)
    assert told.state is state
    if state is PromiseState.OVER:
        assert told.causes[0].startswith("dwd@2024-06-28 reads much more than usual (")

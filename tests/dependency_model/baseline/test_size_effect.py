"""What reads more takes longer, as far as the runs of the past say so."""

from __future__ import annotations

import random
from math import exp, log

import pytest

from tidemark.dependency_model.baseline.learned_times import DAY, STEPS, HistoryLabel, Observed, learn
from tidemark.dependency_model.baseline.size_effect import SizeEffect, size_effect

_USUAL = learn([Observed(day * DAY, 100.0) for day in range(30)])


@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0])
def test_some_days_of_unusual_size_show_the_slope(slope: float) -> None:
    chance = random.Random(3)
    sizes = [*([0.0] * 60), log(3), log(5), -log(2), log(4), log(8)]
    effect = size_effect([(size, slope * size + chance.gauss(0, 0.1)) for size in sizes])
    assert effect.slope == pytest.approx(slope, abs=0.1)
    assert effect.doubt < 0.1


def test_without_such_days_it_lies_between_overhead_and_reading() -> None:
    effect = size_effect([(0.0, 0.1), (0.0, -0.1)] * 10)
    assert (effect.slope, effect.doubt) == pytest.approx((0.5, 0.5))
    assert size_effect([]) == SizeEffect()


def test_an_odd_run_of_usual_size_says_nothing_of_size() -> None:
    assert size_effect([(0.0, 2.5), *([(0.0, 0.0)] * 20)]).slope == pytest.approx(0.5)


@pytest.mark.parametrize(("factor", "middle"), [(10, 1_000), (0.1, 10)])
def test_a_run_of_unusual_size_is_scaled_and_labelled(factor: float, middle: float) -> None:
    times = SizeEffect(1.0, 0.0).on(_USUAL, log(factor))
    assert times.label is HistoryLabel.CHANGED
    assert times.typical(30 * DAY) == pytest.approx(middle, rel=0.1)


def test_doubt_makes_it_wide_and_nothing_usual_changes() -> None:
    quantiles = SizeEffect().on(_USUAL, log(10)).quantiles(30 * DAY)
    middle, high = quantiles[STEPS // 2], quantiles[round(0.9 * (STEPS - 1))]
    assert middle == pytest.approx(101 * exp(0.5 * log(10)), rel=0.05)
    assert high / middle > 3.0
    assert SizeEffect().on(_USUAL, 0.0).quantiles(30 * DAY) == pytest.approx(_USUAL.quantiles(30 * DAY))

"""What a history says: of nothing, of a day, of a jump, of a rhythm that grows."""

from __future__ import annotations

import random
from math import exp

import pytest

from tidemark.dependency_model.baseline.learned_times import DAY, STEPS, HistoryLabel, LearnedTimes, Observed, learn

_P10, _P90 = round(0.1 * (STEPS - 1)), round(0.9 * (STEPS - 1))


def _days(*seconds: float) -> list[Observed]:
    return [Observed(day * DAY, value, (day % 7,)) for day, value in enumerate(seconds)]


def _next(learned: LearnedTimes, day: int) -> tuple[float, float, float]:
    quantiles = learned.quantiles(day * DAY, (day % 7,))
    return float(quantiles[_P10]), learned.typical(day * DAY, (day % 7,)), float(quantiles[_P90])


def test_without_history_anything_around_the_typical_is_possible() -> None:
    learned = learn([], typical=100)
    low, middle, high = _next(learned, 0)
    assert learned.label is HistoryLabel.NONE
    assert middle == pytest.approx(100)
    assert low < 30
    assert high > 400


def test_one_day_is_believed_widely() -> None:
    learned = learn(_days(100))
    low, middle, high = _next(learned, 1)
    assert learned.label is HistoryLabel.SHORT
    assert middle == pytest.approx(100)
    assert low < 75
    assert 130 < high < 250


def test_a_lone_tenfold_time_may_be_the_new_level() -> None:
    learned = learn(_days(*[100] * 20, 1000))
    _, middle, _ = _next(learned, 21)
    quantiles = learned.quantiles(21 * DAY, (0,))
    assert learned.label is HistoryLabel.CHANGED
    assert middle == pytest.approx(100, rel=0.02)
    assert quantiles[-3] == pytest.approx(1000, rel=0.1)


@pytest.mark.parametrize("factor", [10, 0.1])
def test_after_a_tenfold_jump_only_the_new_level_counts(factor: float) -> None:
    learned = learn(_days(*[600] * 20, 600 * factor, 600 * factor, 600 * factor))
    low, middle, high = _next(learned, 23)
    assert learned.label is HistoryLabel.CHANGED
    assert middle == pytest.approx(600 * factor, rel=0.02)
    assert low > 300 * factor
    assert high < 2_000 * factor
    settled = learn(_days(*[600] * 20, *[600 * factor] * 14))
    assert settled.label is HistoryLabel.STEADY
    assert settled.typical(34 * DAY) == pytest.approx(600 * factor, rel=0.02)


def test_a_weekly_rhythm_that_grows_is_carried_on() -> None:
    chance = random.Random(7)
    truth = [100 * exp(0.01 * day) * (2.2 if day % 7 > 4 else 1) for day in range(92)]
    learned = learn(_days(*(value * exp(chance.gauss(0, 0.1)) for value in truth[:84])))
    assert learned.label is HistoryLabel.STEADY
    for day in range(84, 91):
        low, middle, high = _next(learned, day)
        assert middle == pytest.approx(truth[day], rel=0.15)
        assert low < truth[day] < high
        assert high / low < 1.6


def test_the_same_every_day_is_certain() -> None:
    learned = learn(_days(*[60] * 30))
    assert learned.quantiles(30 * DAY, (2,)) == pytest.approx([60] * STEPS)


def test_one_odd_day_weeks_ago_changes_nothing() -> None:
    learned = learn(_days(*[60] * 12, 700, *[60] * 12))
    low, middle, high = _next(learned, 25)
    assert learned.label is HistoryLabel.STEADY
    assert (low, middle, high) == pytest.approx((60, 60, 60), rel=0.02)


def test_hours_have_a_rhythm_of_the_day_and_of_the_week() -> None:
    chance = random.Random(8)

    def truth(hour: int) -> float:
        return 100 * (4.0 if hour % 24 < 5 else 1.0) * (0.5 if hour // 24 % 7 > 4 else 1.0)

    hours = range(21 * 24)
    observed = [
        Observed(hour * DAY / 24, truth(hour) * exp(chance.gauss(0, 0.1)), (hour % 24, hour // 24 % 7))
        for hour in hours
    ]
    learned = learn(observed)
    assert learned.label is HistoryLabel.STEADY
    assert learned.count > 300
    for hour in (5 * 24 - 1, 5 * 24 + 2, 5 * 24 + 12, 7 * 24 + 2, 7 * 24 + 12):
        at, groups = (21 * 24 + hour) * DAY / 24, (hour % 24, hour // 24 % 7)
        quantiles = learned.quantiles(at, groups)
        assert learned.typical(at, groups) == pytest.approx(truth(hour), rel=0.15)
        assert quantiles[_P90] / quantiles[_P10] < 1.7


def _by_code(*times: tuple[float, str]) -> LearnedTimes:
    return learn([Observed(day * DAY, value, (day % 7,), code) for day, (value, code) in enumerate(times)])


@pytest.mark.parametrize("factor", [1.6, 0.6, 20.0])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_code_that_takes_other_times_is_not_learned_from_the_code_before(factor: float, runs: int) -> None:
    """Also where the level changes by less than a jump, and after a single run."""
    learned = _by_code(*[(100, "old")] * 20, *[(100 * factor, "new")] * runs)
    assert learned.label is HistoryLabel.CHANGED
    assert learned.count == runs
    assert learned.typical(26 * DAY) == pytest.approx(100 * factor, rel=0.02)


def test_code_that_takes_as_long_keeps_the_history() -> None:
    chance = random.Random(5)
    times = [(100 * exp(chance.gauss(0, 0.2)), "old" if day < 20 else "new") for day in range(25)]
    learned = _by_code(*times)
    assert (learned.label, learned.count) == (HistoryLabel.STEADY, 25)


@pytest.mark.parametrize("codes", [("", ""), ("old", "old"), ("", "new"), ("old", "")])
def test_only_known_codes_that_differ_are_another_code(codes: tuple[str, str]) -> None:
    learned = _by_code(*[(100, codes[0])] * 20, *[(160, codes[1])] * 2)
    assert learned.count == 22


def test_code_that_never_ran_is_believed_widely() -> None:
    learned = learn(_days(*[60] * 30))
    quantiles = learned.of_new_code().quantiles(30 * DAY)
    assert learned.of_new_code().label is HistoryLabel.CHANGED
    assert quantiles[STEPS // 2] == pytest.approx(60, rel=0.02)
    assert quantiles[_P90] > 90
    assert learn(()).of_new_code().label is HistoryLabel.NONE

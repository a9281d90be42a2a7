"""A slice compared with its history: noise, anomalies, and results with little history."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.profile import World, detection
from benchmarks.profile.simulated_days import FAULTS
from tidemark.dependency_model.profile.comparison import DatedFigures, compare
from tidemark.dependency_model.profile.figures import ColumnFigures, SliceFigures
from tidemark.dependency_model.profile.prediction import History, predict
from tidemark.dependency_model.profile.scale import numbers
from tidemark.dependency_model.profile.sketches import FrequentValue
from tidemark.dependency_model.profile.slice_profile import ColumnKind
from tidemark.dependency_model.time.window import Window

DAY = datetime(2026, 3, 29, tzinfo=UTC)


def dated(ago: int, rows: int, *, special: bool = False, **columns: ColumnFigures) -> DatedFigures:
    start = DAY - timedelta(days=ago)
    return DatedFigures(ago, SliceFigures(rows, columns), Window(start, start + timedelta(days=1)), special)


def weekly(days: int, seed: int = 1) -> list[DatedFigures]:
    """Weekends have half of the rows; a day's noise is three in a hundred."""
    chance = random.Random(seed)
    return [dated(ago, round(10_000 * (0.5 if ago % 7 < 2 else 1) * chance.gauss(1, 0.03))) for ago in range(1, days)]


def test_a_weekday_is_compared_with_the_same_weekday() -> None:
    past = weekly(84)
    assert compare(dated(0, 5_100), past, 7).anomalies == ()
    (anomaly,) = compare(dated(0, 10_000), past, 7).anomalies
    assert (anomaly.measure, anomaly.actual) == ("rows", "10,000")
    assert 4_500 < int(anomaly.expected.replace(",", "")) < 5_500


def test_a_hundredth_of_the_rows_is_within_the_noise_of_their_number() -> None:
    """History alone cannot see it; rows for a row of the input can."""
    past = weekly(84)
    assert compare(dated(0, 4_950), past, 7).anomalies == ()
    told = [
        before._replace(figures=SliceFigures(before.figures.rows, {}, {"up": before.figures.rows})) for before in past
    ]
    now = DatedFigures(0, SliceFigures(4_950, {}, {"up": 5_000}))
    assert [anomaly.measure for anomaly in compare(now, told, 7).anomalies] == ["rows for a row of up"]


@pytest.mark.parametrize(("days", "history"), [(5, History.NONE), (25, History.SHORT), (84, History.FULL)])
def test_the_length_of_the_history_is_reported(days: int, history: History) -> None:
    assert compare(dated(0, 5_000), weekly(days), 7).history is history


def test_without_history_nothing_is_an_anomaly() -> None:
    assert compare(dated(0, 1), [], 7).anomalies == ()


def test_a_new_level_is_followed_after_some_days() -> None:
    """Twice the rows since five days: the sixth is told beside these, not beside the weeks before."""
    past = [
        before._replace(figures=SliceFigures(before.figures.rows * (2 if before.ago <= 5 else 1)))
        for before in weekly(84)
    ]
    comparison = compare(dated(0, 10_000), past, 7)
    assert (comparison.history, comparison.anomalies) == (History.CHANGED, ())
    assert compare(dated(0, 30_000), past, 7).anomalies


def test_growth_is_followed() -> None:
    past = {ago: 1_000.0 - 3 * ago for ago in range(1, 84)}
    prediction = predict(past, 7)
    assert prediction is not None
    assert prediction.value == pytest.approx(1_000, abs=0.5)


def test_a_holiday_may_have_an_eighth_of_the_rows_and_tells_nothing_of_usual_days() -> None:
    past = weekly(84)
    assert compare(dated(0, 1_000, special=True), past, 7).anomalies == ()
    with_holidays = [before if before.ago % 7 else dated(before.ago, 100, special=True) for before in past]
    assert compare(dated(0, 5_000), with_holidays, 7).anomalies == ()


def test_missing_and_new_values_are_reported() -> None:
    def shards(*names: str) -> ColumnFigures:
        rows = 10_000 // len(names)
        frequent = tuple(FrequentValue(name, rows) for name in names)
        return ColumnFigures(ColumnKind.TEXT, 10_000, float(len(names)), frequent=frequent)

    past = [dated(ago, 10_000, shard=shards("s0", "s1", "s2", "s3")) for ago in range(1, 84)]
    told = compare(dated(0, 10_000, shard=shards("s0", "s1", "s2", "s9")), past, 7).anomalies
    assert {(anomaly.measure, anomaly.actual, anomaly.expected) for anomaly in told} == {
        ("share of shard = s3", "0.00%", "25.00%"),
        ("share of shard = s9", "25.00%", "0.00%"),
    }


def test_whole_numbers_that_differ_by_one_are_not_an_anomaly() -> None:
    def counted(middle: float) -> ColumnFigures:
        quantiles = (1.0, 1.0, middle, middle, middle, middle + 1, middle + 1)
        return ColumnFigures(ColumnKind.NUMBER, 10_000, 5.0, "1", "9", quantiles)

    past = [dated(ago, 10_000, items=counted(3.0)) for ago in range(1, 84)]
    assert compare(dated(0, 10_000, items=counted(4.0)), past, 7).anomalies == ()
    assert compare(dated(0, 10_000, items=counted(300.0)), past, 7).anomalies


def test_a_process_that_compares_for_long_holds_no_more_for_it() -> None:
    """Each comparison left some hundred scales in a cache without a bound, as each had a function of its own."""
    numbers_ = ColumnFigures(ColumnKind.NUMBER, 10_000, 5.0, "1", "9", (1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    times = ColumnFigures(ColumnKind.TIME, 10_000, 5.0, "1", "9", tuple(DAY.timestamp() * 1e6 + at for at in range(7)))
    past = [dated(ago, 10_000, items=numbers_, at=times) for ago in range(1, 30)]

    def held() -> int:
        compare(dated(0, 10_000, items=numbers_, at=times), past, 7)
        return numbers.cache_info().currsize

    assert held() == held() < 10


@pytest.mark.slow
def test_a_clean_day_of_the_simulated_shop_is_usual_and_each_fault_is_seen() -> None:
    world, day = World(7, 70), 69
    assert not world.compared("cleaned", day, world.clean["cleaned"][day]).anomalies
    missed = [
        fault
        for fault in FAULTS
        if not world.compared("cleaned", day, world.faulty("cleaned", world.days[day], fault)).anomalies
    ]
    assert missed == []


@pytest.mark.long
def test_false_alarms_are_at_most_a_hundredth_and_every_fault_is_caught() -> None:
    """90 days after 90 of history, a shop by a seed of the moment: the seed is told where it fails."""
    told = detection(random.SystemRandom().randrange(1_000_000), 2, 180, 5)
    assert told["share_of_false_alarms"] <= 0.01, told
    assert set(told["caught"].values()) == {1.0}, told

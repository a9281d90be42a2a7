"""How far a distribution is from another one, by sketches: against the same from all of the values."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.profile.simulated_days import Rows, Shop, with_fault
from benchmarks.profile.sketched import distinct_sketch, frequent_sketch, quantile_sketch
from tidemark.dependency_model.profile.drift import Dated, drift
from tidemark.dependency_model.profile.sketches import RANK_ERROR
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.errors import EntityError

NUMBER, TIME, TEXT = ColumnKind.NUMBER, ColumnKind.TIME, ColumnKind.TEXT
DAY = 86_400.0


def of_numbers(values: list[float], kind: ColumnKind = NUMBER, start: float = 0.0) -> Dated:
    distinct = distinct_sketch(hash(value) for value in values)
    column = ColumnProfile("x", kind, len(values), None, None, distinct, quantile_sketch(values))
    return Dated(SliceProfile(len(values), (column,)), start)


def of_texts(values: list[str]) -> Dated:
    distinct, frequent = distinct_sketch(hash(value) for value in values), frequent_sketch(values)
    column = ColumnProfile("x", TEXT, len(values), None, None, distinct, None, frequent)
    return Dated(SliceProfile(len(values), (column,)))


def sample(seed: int, middle: float = 0.0, number: int = 3_000) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(middle, 1) for _ in range(number)]


def distance(now: Dated, *past: Dated) -> float:
    told = drift("x", now, past)
    assert told is not None
    assert told.compared == len(past)
    return told.distance


def test_only_another_distribution_is_drift() -> None:
    past = [of_numbers(sample(seed)) for seed in range(4)]
    assert distance(of_numbers(sample(9)), *past) == 0.0
    assert distance(of_numbers(sample(9, middle=0.5)), *past) == pytest.approx(0.197 - 0.07, abs=0.05)
    assert distance(of_numbers([value + 1_000 for value in sample(9)]), *past) > 0.9


@pytest.mark.parametrize("column", ["amount", "created_at"])
def test_days_of_the_simulated_shop_do_not_drift_and_another_unit_or_zone_does(column: str) -> None:
    """Weekly rhythm, growth, noise: each day against the same weekday of four weeks before."""
    days = Shop(24).days(36)
    kind, scale = (TIME, 1e6) if column == "created_at" else (NUMBER, 1.0)

    def measured(rows: Rows, day: int) -> Dated:
        return of_numbers(list(rows[column] * scale), kind, day * DAY)

    profiles = [measured(day.orders, day.day) for day in days]
    for day in days[28:]:
        past = [profiles[day.day - back] for back in (7, 14, 21, 28)]
        assert distance(profiles[day.day], *past) < 0.02
        assert distance(measured(spoiled(day.orders, column), day.day), *past) > 0.08


def spoiled(rows: Rows, column: str) -> Rows:
    """The amounts of a shard in cents, or all times in a zone two hours away."""
    if column == "amount":
        return with_fault(rows, "unit change of a shard", 1)
    return {**rows, column: rows[column] - 7_200}


def test_a_past_slice_that_was_wrong_moves_nothing() -> None:
    past = [of_numbers(sample(seed)) for seed in range(3)]
    assert distance(of_numbers(sample(9)), *past, of_numbers(sample(5, middle=100))) == 0.0


def test_few_rows_are_not_drift() -> None:
    assert distance(of_numbers(sample(1, middle=0.5, number=20)), of_numbers(sample(2))) == 0.0


def test_times_are_compared_by_their_place_in_the_window() -> None:
    def at(day: int, hour: float) -> Dated:
        micros = [((day + hour / 24) * DAY + second) * 1e6 for second in range(3_600)]
        return of_numbers(micros, TIME, day * DAY)

    assert distance(at(7, 12), at(0, 12)) == 0.0
    assert distance(at(7, 18), at(0, 12)) > 0.9


def test_texts_are_compared_by_their_shares() -> None:
    usual = [of_texts(["a", "b"] * 2_000), of_texts(["b", "a"] * 2_000)]
    assert distance(of_texts(["a", "b"] * 1_900), *usual) == 0.0
    assert distance(of_texts(["a", "a", "a", "b"] * 1_000), *usual) == pytest.approx(0.25 - 0.05, abs=0.02)
    assert distance(of_texts(["c"] * 4_000), *usual) > 0.9


def test_without_anything_to_compare_there_is_none() -> None:
    now, other = of_numbers(sample(1)), Dated(SliceProfile(3, (ColumnProfile("y", NUMBER, 3),)))
    nothing = Dated(SliceProfile(3, (ColumnProfile("x", NUMBER, 0),)))
    for past in ([], [other], [nothing], [of_texts(["a"] * 9)]):
        assert drift("x", now, past) is None
    assert drift("x", nothing, [now]) is None


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (ColumnProfile("y", NUMBER, 9), "x is not in the profile"),
        (ColumnProfile("x", NUMBER, 9), "the profile is full"),
        (ColumnProfile("x", ColumnKind.OTHER, 9), "not a number, time, text or flag"),
        (of_texts([str(number) for number in range(900)]).profile.columns[0], "values, and 48 are counted"),
    ],
)
def test_without_a_sketch_drift_is_unknown_and_never_passes(column: ColumnProfile, says: str) -> None:
    now = Dated(SliceProfile(9, (column,)))
    with pytest.raises(EntityError, match=says):
        drift("x", now, [now])


NUMBERS = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=400)


@settings(max_examples=60, deadline=None)
@given(mine=NUMBERS, theirs=NUMBERS)
def test_drift_is_the_greatest_difference_beyond_chance(mine: list[float], theirs: list[float]) -> None:
    exact = max(
        abs(bisect_right(sorted(mine), value) / len(mine) - bisect_right(sorted(theirs), value) / len(theirs))
        for value in {*mine, *theirs}
    )
    noise = (2.65 * (1 / len(mine) + 1 / len(theirs))) ** 0.5 + 2**0.5 * RANK_ERROR
    assert distance(of_numbers(mine), of_numbers(theirs)) == pytest.approx(max(0.0, exact - noise), abs=2 * RANK_ERROR)


@settings(max_examples=60, deadline=None)
@given(mine=st.text("abcdef", min_size=1, max_size=300), theirs=st.text("abcdef", min_size=1, max_size=300))
def test_drift_of_texts_is_half_of_the_differences_beyond_chance(mine: str, theirs: str) -> None:
    counts, others = Counter(mine), Counter(theirs)
    exact = sum(abs(counts[text] / len(mine) - others[text] / len(theirs)) for text in {*mine, *theirs}) / 2
    noise = 1 / len(mine) + 1 / len(theirs)
    chance = (len({*mine, *theirs}) * noise) ** 0.5 / 2 + (2.3026 * noise) ** 0.5
    told = distance(of_texts(list(mine)), of_texts(list(theirs)))
    assert told == pytest.approx(max(0.0, exact - chance), abs=1e-4)

"""Profiles that are merged, against exact answers: of Python's own counting, and of DuckDB."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.profile.sketched import distinct_sketch, frequent_sketch, quantile_sketch
from tidemark.dependency_model.profile.figures import RANKS, figures_as_data, figures_from_data, figures_of
from tidemark.dependency_model.profile.profile_codec import decode_profile, encode_profile
from tidemark.dependency_model.profile.sketches import COUNT_ERROR, DISTINCT_ERROR, RANK_ERROR
from tidemark.dependency_model.profile.slice_profile import (
    ColumnKind,
    ColumnProfile,
    SliceProfile,
    merge,
    sizes,
    without_sketches_over,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Values = list[int | None]
PARTS = st.lists(st.lists(st.none() | st.integers(-50, 50), max_size=60), min_size=1, max_size=6)


def profile_of(numbers: Sequence[int | None]) -> SliceProfile:
    """Of rows with a number `n`, and the same as a text `t`."""
    there = [number for number in numbers if number is not None]
    if not there:
        columns = (ColumnProfile("n", ColumnKind.NUMBER, 0), ColumnProfile("t", ColumnKind.TEXT, 0))
        return SliceProfile(len(numbers), columns)
    texts = [str(number) for number in there]
    distinct = distinct_sketch(number % 2**63 for number in there)
    number = ColumnProfile(
        "n", ColumnKind.NUMBER, len(there), str(min(there)), str(max(there)), distinct, quantile_sketch(there)
    )
    text = ColumnProfile(
        "t", ColumnKind.TEXT, len(there), min(texts), max(texts), distinct, None, frequent_sketch(texts)
    )
    return SliceProfile(len(numbers), (number, text))


def test_times_are_ordered_by_year_also_before_0_and_after_9999() -> None:
    times = ["-0070-08-16 01:00:00", "0011-12-19 00:00:00", "9378-01-01 00:00:00.5", "+10088-03-25 00:00:00"]
    parts = [SliceProfile(1, (ColumnProfile("t", ColumnKind.TIME, 1, time, time),)) for time in times]
    for some in (parts, parts[::-1]):
        (column,) = merge(some).columns
        assert (column.minimum, column.maximum) == (times[0], times[-1])


@given(PARTS)
def test_merged_parts_are_the_profile_of_all_rows(parts: list[Values]) -> None:
    """So few rows that every sketch is exact but for the order of quantiles."""
    whole = [number for part in parts for number in part]
    merged, at_once = figures_of(merge([profile_of(part) for part in parts])), figures_of(profile_of(whole))
    assert (merged.rows, merged.nulls("n")) == (at_once.rows, at_once.nulls("n"))
    for name in ("n", "t"):
        merged_column, whole_column = merged.columns[name], at_once.columns[name]
        assert (merged_column.values, merged_column.minimum, merged_column.maximum) == (
            whole_column.values,
            whole_column.minimum,
            whole_column.maximum,
        )
        assert merged_column.distinct == pytest.approx(whole_column.distinct, rel=1e-3)
    counts = Counter(str(number) for number in whole if number is not None)
    for value, rows in merged.columns["t"].frequent:
        assert abs(rows - counts[value]) <= COUNT_ERROR * len(whole)


@given(PARTS)
def test_the_order_and_grouping_of_parts_does_not_matter(parts: list[Values]) -> None:
    profiles = [profile_of(part) for part in parts]
    in_order = merge(profiles)
    regrouped = merge([merge(profiles[:2]), *reversed(profiles[2:])])
    assert (in_order.rows, [column.values for column in in_order.columns]) == (
        regrouped.rows,
        [c.values for c in regrouped.columns],
    )
    assert [(c.minimum, c.maximum) for c in in_order.columns] == [(c.minimum, c.maximum) for c in regrouped.columns]


@pytest.mark.parametrize("seed", range(3))
def test_merged_hours_are_within_the_stated_errors_of_duckdbs_counts(seed: int) -> None:
    chance = np.random.default_rng(seed)
    hours = [chance.lognormal(3, 1, int(chance.integers(500, 4_000))) for _ in range(24)]
    hours = [np.round(hour, 2) for hour in hours]
    parts = []
    for hour in hours:
        texts = [f"c{min(int(value / 10), 60)}" for value in hour]
        hashed = distinct_sketch(int(value * 100) for value in hour)
        number = ColumnProfile(
            "n", ColumnKind.NUMBER, len(hour), str(min(hour)), str(max(hour)), hashed, quantile_sketch(hour)
        )
        text = ColumnProfile(
            "t", ColumnKind.TEXT, len(hour), min(texts), max(texts), None, None, frequent_sketch(texts)
        )
        parts.append(SliceProfile(len(hour), (number, text)))
    day = figures_of(merge([decode_profile(encode_profile(part)) for part in parts]))
    values = pa.table({"n": np.concatenate(hours)})
    connection = duckdb.connect()
    connection.register("day", values)
    (exact,) = connection.execute("SELECT count(*), min(n), max(n), count(DISTINCT n) FROM day").fetchall()
    column = day.columns["n"]
    assert (day.rows, Decimal(column.minimum or ""), Decimal(column.maximum or "")) == (
        exact[0],
        Decimal(str(exact[1])),
        Decimal(str(exact[2])),
    )
    assert column.distinct == pytest.approx(exact[3], rel=4 * DISTINCT_ERROR)
    for rank, value in zip(RANKS, column.quantiles, strict=True):
        shares = "SELECT avg((n < ?)::INT), avg((n <= ?)::INT) FROM day"
        ((below, up_to),) = connection.execute(shares, [value, value]).fetchall()
        assert below - 1.5 * RANK_ERROR <= rank <= up_to + 1.5 * RANK_ERROR
    counted = "SELECT 'c' || least(floor(n / 10), 60)::INT AS t, count(*) FROM day GROUP BY 1"
    counts = dict(connection.execute(counted).fetchall())
    for text_value, rows in day.columns["t"].frequent:
        assert abs(rows - counts[text_value]) <= COUNT_ERROR * day.rows


def test_a_column_that_came_later_is_null_in_the_parts_without_it() -> None:
    old = SliceProfile(10, (ColumnProfile("a", ColumnKind.NUMBER, 9, "1", "3"),))
    new = SliceProfile(5, (*old.columns, ColumnProfile("b", ColumnKind.TEXT, 5, "x", "y")))
    merged = figures_of(merge([old, new]))
    assert merged.nulls("b") == pytest.approx(10 / 15)
    assert (merged.columns["b"].minimum, merged.columns["b"].maximum) == ("x", "y")


def test_numbers_are_ordered_as_numbers_and_nan_is_the_greatest() -> None:
    parts = [
        SliceProfile(1, (ColumnProfile("a", ColumnKind.NUMBER, 1, low, high),))
        for low, high in (("9", "10"), ("-3.5", "2E+3"), ("1", "NaN"))
    ]
    (column,) = merge(parts).columns
    assert (column.minimum, column.maximum) == ("-3.5", "NaN")


def test_with_a_missing_sketch_the_merged_profile_has_none() -> None:
    with_one = ColumnProfile(
        "a", ColumnKind.NUMBER, 3, "1", "3", distinct_sketch([1, 2, 3]), quantile_sketch([1, 2, 3])
    )
    without = ColumnProfile("a", ColumnKind.NUMBER, 3, "1", "3")
    (column,) = merge([SliceProfile(3, (with_one,)), SliceProfile(3, (without,))]).columns
    assert (column.distinct, column.quantiles) == (None, None)


def test_sizes_are_bounded_by_leaving_out_the_sketches_of_the_last_columns() -> None:
    wide = SliceProfile(
        3,
        tuple(
            ColumnProfile(
                f"c{number}", ColumnKind.NUMBER, 3, "1", "3", distinct_sketch([1, 2, 3]), quantile_sketch([1])
            )
            for number in range(9)
        ),
    )
    bounded = without_sketches_over(wide, sizes(wide) // 2)
    assert sizes(bounded) <= sizes(wide) // 2
    assert [column.distinct is not None for column in bounded.columns] == [True] * 4 + [False] * 5
    assert [column.values for column in bounded.columns] == [3] * 9


@given(PARTS)
def test_profiles_and_figures_read_back(parts: list[Values]) -> None:
    profile = merge([profile_of(part) for part in parts])
    assert decode_profile(encode_profile(profile)) == profile
    figures = figures_of(profile, {"ods_orders": 5})
    assert figures_from_data(figures_as_data(figures)) == figures

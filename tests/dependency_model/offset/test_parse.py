"""The text form of an offset: what it means, how it prints, and what an error says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.offset.offset import (
    ALL,
    LAST,
    LAST_AVAILABLE,
    SAME,
    STATIC,
    TO_DATE,
    OffsetKind,
    runs_of,
)
from tidemark.dependency_model.time import Period
from tidemark.errors import ParseError

counts = st.lists(st.integers(-200_000, 200_000), min_size=1, max_size=40)
ends = st.tuples(st.integers(-2_000, 2_000), st.integers(0, 2_000))
within = st.sampled_from([Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR])
near = st.lists(st.integers(-4_000, 4_000), min_size=1, max_size=6).map(runs_of)
offsets = st.one_of(
    st.builds(Offset.of_counts, counts),
    ends.map(lambda pair: Offset.range(pair[0], pair[0] + pair[1])),
    st.sampled_from([ALL, SAME, STATIC, LAST_AVAILABLE, Offset(OffsetKind.TO_DATE)]),
    st.builds(Offset, st.sampled_from([OffsetKind.ALL, OffsetKind.TO_DATE]), st.just(()), within),
    st.builds(Offset.of_periods, st.sampled_from([ALL, SAME, LAST]), within, near),
    st.builds(lambda runs, unit, periods: Offset.of_counts(runs).of_periods(unit, periods), counts, within, near),
    st.builds(lambda runs: replace(Offset.of_counts(runs), once=True), counts),
    st.builds(lambda unit, runs: Offset(OffsetKind.DATE, runs, unit), within.filter(lambda p: not p.is_clock), near),
    st.builds(lambda runs: Offset(OffsetKind.WORKDAY, runs), near),
    st.builds(
        Offset.of_periods,
        st.sampled_from([Offset(OffsetKind.FIRST_WORKDAY), Offset(OffsetKind.LAST_WORKDAY), TO_DATE]),
        within.filter(lambda p: not p.is_clock and p is not Period.DAY),
        near,
    ),
    st.builds(lambda day: Offset(OffsetKind.SINCE, since=day.isoformat()), st.dates()),
)


@given(offsets)
def test_what_is_printed_reads_back(offset: Offset) -> None:
    assert Offset.parse(str(offset)) == offset


@given(counts)
def test_the_order_of_counts_does_not_matter(given_counts: list[int]) -> None:
    assert Offset.of_counts(given_counts) == Offset.of_counts(sorted(given_counts, reverse=True))
    assert Offset.of_counts(given_counts).counts == tuple(sorted(set(given_counts)))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Set 0", "Set 0"),
        ("Set, 0", "Set 0"),
        ("Set,0", "Set 0"),
        ("set  0 , -1", "Set -1,0"),
        ("Set 0,1,2,3,4,5,6", "Range 0..6"),
        ("Range 0-6", "Range 0..6"),
        ("Range, 0\u20116", "Range 0..6"),
        ("Range 0-23", "Range 0..23"),
        ("Range -6..0", "Range -6..0"),
        ("Range -7--1", "Range -7..-1"),
        ("Range -1..0", "Set -1,0"),
        ("Set \u22121", "Set -1"),
        ("all_week", "all week"),
        ("all", "all"),
        ("month_to_date", "to_date month"),
        ("to_date month", "to_date month"),
        ("last available", "last_available"),
        ("same", "Set 0"),
        ("previous", "Set -1"),
        ("static", "static"),
        ("all day -1", "all day -1"),
        ("hours of day -1", "all day -1"),
        ("all of day -1", "all day -1"),
        ("days of month -1", "all month -1"),
        ("all day \u22126..0", "all day -6..0"),
        ("all month 0", "all month"),
        ("Hours of Days -2,-1", "all day -2,-1"),
        ("first of month", "first of month"),
        ("Set 0 of month -1", "first of month -1"),
        ("last of year -1", "last of year -1"),
        ("Set 14 of month", "Set 14 of month"),
        ("Range 0..6 of month -1", "Range 0..6 of month -1"),
        ("date -1 year", "date -1 year"),
        ("date -7..-1 days", "date -7..-1 day"),
        ("set 2 Once", "Set 2 once"),
        ("Range 0..2 of day -1 once", "Range 0..2 of day -1 once"),
        ("since start", "since start"),
        ("to_date month -1", "to_date month -1"),
        ("to_date month 0", "to_date month"),
        ("to_date year -1,0", "to_date year -1,0"),
        ("workday -1", "workday -1"),
        ("workdays -5..-1", "workday -5..-1"),
        ("last workday of month", "last workday of month"),
        ("First workday of months -1", "first workday of month -1"),
        ("since 2024-02-29", "since 2024-02-29"),
    ],
)
def test_forms(text: str, canonical: str) -> None:
    assert str(Offset.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Set 0,x", "count 2 of the Set is 'x'"),
        ("Set", "not an offset"),
        ("Set ", "not an offset"),
        ("Set 0,,1", "count 2 of the Set is ''"),
        ("Range 3", "two ends"),
        ("some of month", "'some' is not a part of a month"),
        ("first of fortnight", "not an offset"),
        ("all day -1.5", "count 1 of the Set is '-1.5'"),
        ("all day -5000", "is too large"),
        ("date -1 hour", "a date cannot be shifted by 'hour'"),
        ("date one year", "count 1 of the Set is 'one'"),
        ("since 2024-02-30", "this date does not exist"),
        ("workday", "not an offset"),
        ("all once", "'once' must follow a Set or a Range"),
        ("Set 1 once once", "'once' must follow"),
        ("once", "not an offset"),
        ("workday -1.5", "count 1 of the Set is '-1.5'"),
        ("last workday of day", "a day has no first or last workday"),
        ("to_date fortnight -1", "not an offset"),
        ("since yesterday", "not an offset"),
        ("Range 5..3", "lower count"),
        ("Range 0..9999999", "is too large"),
        ("last_availabel", "did you mean 'last_available'"),
        ("all weak", "did you mean 'all week'"),
        ("Set " + "1," * 5000 + "1", "not an offset"),
        ("Set " + ",".join(str(n) for n in range(0, 2400, 2)), "at most 1000"),
        ("", "Set 0,-1"),
    ],
)
def test_errors_name_the_place_and_the_allowed_values(text: str, says: str) -> None:
    with pytest.raises(ParseError) as raised:
        Offset.parse(text)
    assert says in str(raised.value)
    assert "expected" in str(raised.value) or "hint" in str(raised.value) or raised.value.hint

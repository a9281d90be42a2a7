"""Each instant of a span, taken alone through Python's own zones, comes to lie in the span that is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from tidemark.dependency_model.lineage.clock_span import (
    DAY_MICROS,
    MICROS,
    ClockSpan,
    instant_of,
    moved,
    pieces,
    pieces_near_ends,
    shown,
)
from tidemark.dependency_model.lineage.functions.calendar_arithmetic import months_on
from tidemark.dependency_model.time.zone import Zone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = 3600 * MICROS
ZONES = ("Europe/Paris", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "America/Havana", "UTC")
CHANGES = [
    datetime.fromisoformat(f"{moment}:00Z")
    for moment in ("2024-03-31T01", "2024-10-27T01", "2011-12-30T10", "2024-04-06T15", "2024-03-10T05", "2024-11-03T05")
]


def _micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


near_changes = st.builds(
    lambda moment, quarters: _micros(moment) + quarters * HOUR // 4,
    st.sampled_from(CHANGES),
    st.integers(-200, 200),
)
lengths = st.integers(0, 300).map(lambda quarters: quarters * HOUR // 4)


def _reference(zone: ZoneInfo, instant: int, months: int, days: int) -> int:
    """`atZone(zone).plusMonths(months).plusDays(days)`."""
    moment = (EPOCH + timedelta(microseconds=instant)).astimezone(zone)
    for moves_months, moves_days in ((months, 0), (0, days)):
        reading = moment.replace(tzinfo=None)
        day = months_on((reading.date() - EPOCH.date()).days, moves_months) + moves_days
        reading = datetime.combine(EPOCH.date() + timedelta(days=day), reading.time())
        if moves_months or moves_days:
            moment = _of_local(zone, reading, moment.utcoffset())
    return _micros(moment)


def _of_local(zone: ZoneInfo, reading: datetime, preferred: timedelta | None) -> datetime:
    both = [reading.replace(tzinfo=zone, fold=fold).astimezone(UTC).astimezone(zone) for fold in (0, 1)]
    shown = [moment for moment in both if moment.replace(tzinfo=None) == reading]
    return next((moment for moment in shown if moment.utcoffset() == preferred), both[0])


@given(st.sampled_from(ZONES), near_changes, lengths, st.sampled_from([0, 0, 1, -1, 5, -12]), st.integers(-3, 3))
@example("Europe/Paris", _micros(datetime(2024, 3, 30, 1, 30, tzinfo=UTC)), HOUR // 2, 0, 1)
def test_what_moves_on_the_clock_stays_in_the_span(zone: str, low: int, length: int, months: int, days: int) -> None:
    clock, span = Zone.load(zone), ClockSpan(low, low + length)
    told = span
    if months:
        told = moved(clock, told, lambda day: months_on(day, months))
    if days:
        told = moved(clock, told, lambda day: day + days)
    really = [_reference(ZoneInfo(zone), at, months, days) for at in range(low, low + length + 1, HOUR // 4)]
    assert told.low <= min(really)
    assert max(really) <= told.high
    if length == 0:
        assert told == (really[0], really[0])


@given(st.sampled_from(ZONES), near_changes)
def test_a_reading_becomes_the_instant_of_pythons_zone(zone: str, reading: int) -> None:
    local = (EPOCH + timedelta(microseconds=reading)).replace(tzinfo=ZoneInfo(zone))
    assert instant_of(Zone.load(zone), reading) == _micros(local.astimezone(UTC))


@given(st.sampled_from(ZONES), near_changes, lengths)
def test_pieces_are_the_span_and_have_one_offset_each(zone: str, low: int, length: int) -> None:
    clock = Zone.load(zone)
    parts = pieces(clock, ClockSpan(low, low + length))
    assert (parts[0].low, parts[-1].high) == (low, low + length)
    assert all(part.high + 1 == then.low for part, then in pairwise(parts))
    assert all(clock.offset_at(part.low // MICROS) == clock.offset_at(part.high // MICROS) for part in parts)
    assert sum(part.high - part.low + 1 for part in parts) == length + 1 <= 4 * DAY_MICROS


@given(st.sampled_from(ZONES), near_changes, near_changes, st.sampled_from([DAY_MICROS, 7 * DAY_MICROS, HOUR]))
def test_the_least_and_the_most_of_a_long_span_are_near_its_ends(
    zone: str, instant: int, other: int, unit: int
) -> None:
    """Of what follows from the reading alone, as days and texts do, and of instants cut to the reading's hour."""
    clock, span = Zone.load(zone), ClockSpan(min(instant, other), max(instant, other))

    def cut(at: int) -> int:
        return at - shown(clock, at) % HOUR if unit == HOUR else shown(clock, at) // unit

    everywhere, near = pieces(clock, span), pieces_near_ends(clock, span)
    assert min(cut(part.low) for part in near) == min(cut(part.low) for part in everywhere)
    assert max(cut(part.high) for part in near) == max(cut(part.high) for part in everywhere)
    assert len(near) <= 8

"""Ranges of instants and the clock times in them, in microseconds, by the rules of Java and Spark.

A clock goes back if its offset falls, and skips times if it rises. So the ends of a range only decide everything
between two such changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.time.zone import Zone

MICROS: Final = 1_000_000
DAY_MICROS: Final = DAY_SECONDS * MICROS


_ENDS: Final = 3 * DAY_MICROS


class ClockSpan(NamedTuple):
    """All instants, or all times of a clock, from `low` to `high`."""

    low: int
    high: int


def shown(zone: Zone, instant: int) -> int:
    """The local time, counted from 1970-01-01T00:00 local."""
    return instant + zone.offset_at(instant // MICROS) * MICROS


def instant_of(zone: Zone, reading: int, offset: int | None = None) -> int:
    """The instant of a local time, as in `ZonedDateTime.ofLocal`.

    A skipped time is later by the length of the gap. For a repeated time it is the first instant, or the one with
    `offset` (seconds east of UTC) if there is one.
    """
    if offset is not None and zone.offset_at(reading // MICROS - offset) == offset:
        return reading - offset * MICROS
    return reading - zone.offset_before(reading // MICROS) * MICROS


def instants_of(zone: Zone, readings: ClockSpan, offset: int | None = None) -> ClockSpan:
    """The first and the last instant of all local times, each as in `instant_of`."""
    low, high = instant_of(zone, readings.low, offset), instant_of(zone, readings.high, offset)
    for change in _changes_near_ends(zone, readings):
        before, after = zone.offset_at(change - 1), zone.offset_at(change)
        first_left_out, first_shown = (change + before) * MICROS, (change + after) * MICROS
        if first_left_out <= readings.high and readings.low < first_shown:
            high = max(high, min(readings.high, first_shown - 1) - before * MICROS)
            if first_shown <= readings.high:
                low = min(low, change * MICROS)
    return ClockSpan(low, high)


def _changes_near_ends(zone: Zone, readings: ClockSpan) -> tuple[int, ...]:
    """The changes of the offset that may decide the first or the last instant."""
    first, last = (readings.low - DAY_MICROS) // MICROS, (readings.high + DAY_MICROS) // MICROS
    if readings.high - readings.low <= 2 * _ENDS:
        return zone.changes_within(first, last)
    ends = (readings.low + _ENDS) // MICROS, (readings.high - _ENDS) // MICROS
    return zone.changes_within(first, ends[0]) + zone.changes_within(ends[1], last)


def pieces(zone: Zone, span: ClockSpan) -> list[ClockSpan]:
    """The parts of a range without a change of the offset."""
    starts = [
        span.low,
        *(change * MICROS for change in zone.changes_within(span.low // MICROS, span.high // MICROS + 1)),
    ]
    starts = [start for start in starts if start >= span.low]
    return [ClockSpan(start, end - 1) for start, end in zip(starts, [*starts[1:], span.high + 1], strict=True)]


def pieces_near_ends(zone: Zone, span: ClockSpan) -> list[ClockSpan]:
    """The parts in a range's first and last days, which include its least and greatest clock times.

    Offsets differ by at most 26 hours. So a time more than this after the first instant is greater than the least, even
    if it is cut to its hour; likewise at the end.
    """
    if span.high - span.low <= 2 * _ENDS:
        return pieces(zone, span)
    ends = ClockSpan(span.low, span.low + _ENDS), ClockSpan(span.high - _ENDS, span.high)
    return [piece for end in ends for piece in pieces(zone, end)]


def moved(zone: Zone, span: ClockSpan, move: Callable[[int], int]) -> ClockSpan:
    """The first and the last instant of a range whose days are moved on the clock, each at its time of day.

    `move` maps days since 1970 to days and never decreases. Several days may become one, as ends of months do.
    """
    parts = [
        instants_of(zone, _moved_readings(ClockSpan(shown(zone, part.low), shown(zone, part.high)), move), offset)
        for part in pieces(zone, span)
        for offset in [zone.offset_at(part.low // MICROS)]
    ]
    return ClockSpan(min(part.low for part in parts), max(part.high for part in parts))


def _moved_readings(readings: ClockSpan, move: Callable[[int], int]) -> ClockSpan:
    (first, first_time), (last, last_time) = divmod(readings.low, DAY_MICROS), divmod(readings.high, DAY_MICROS)
    if first < last and move(first + 1) == move(first):
        first_time = 0
    if first < last and move(last - 1) == move(last):
        last_time = DAY_MICROS - 1
    return ClockSpan(move(first) * DAY_MICROS + first_time, move(last) * DAY_MICROS + last_time)

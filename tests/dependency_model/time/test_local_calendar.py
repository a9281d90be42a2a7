"""What a calendar refuses, and that its zones are the database's own."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from tidemark.dependency_model.time import Calendar, Period, Window
from tidemark.dependency_model.time.zone import WITHOUT_WHOLE_HOURS, Zone, zone_info, zone_names
from tidemark.errors import CalendarError, ParseError

HEAD = 44
_SAME_CLOCKS = {"Asia/Calcutta", "Asia/Rangoon", "Australia/North", "Indian/Cocos"}
"""Other names of the zones that stand for a fixed offset."""


@pytest.mark.parametrize(
    ("time_zone", "hint"),
    [
        ("Europe/Pariss", "Europe/Paris"),
        ("europe/paris", "Europe/Paris"),
        ("UTC+15", None),
        ("", None),
        ("UTC+5:45", "Kathmandu"),
        ("UTC-13", None),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_name(time_zone: str, hint: str | None) -> None:
    with pytest.raises(CalendarError) as raised:
        Calendar(time_zone)
    assert hint is None or hint in str(raised.value)


def test_a_fixed_offset_is_a_zone_of_the_database_that_never_had_another() -> None:
    assert {name for name in zone_names() if _is_of_part_hours(name)} == {*WITHOUT_WHOLE_HOURS.values(), *_SAME_CLOCKS}
    for hours, minutes in [(hour, 0) for hour in range(-12, 15)] + list(WITHOUT_WHOLE_HOURS):
        text = f"UTC{hours:+d}{f':{abs(minutes)}' if minutes else ''}"
        assert Zone.load(text).offsets == (3600 * hours + 60 * minutes,)
        assert datetime(2026, 3, 29, tzinfo=zone_info(text)).utcoffset() == timedelta(hours=hours, minutes=minutes)


def _is_of_part_hours(name: str) -> bool:
    """Whether a zone has had one offset since 1970, and not one of whole hours."""
    clock = ZoneInfo(name)
    now = datetime(2026, 1, 1, tzinfo=clock).utcoffset()
    return now is not None and now % timedelta(hours=1) != timedelta(0) and len(Zone.load(name).offsets) == 1


def test_an_unknown_first_day_is_refused() -> None:
    with pytest.raises(CalendarError, match="monday"):
        Calendar("UTC", "mondya")


def test_an_instant_has_to_have_a_zone_and_be_known() -> None:
    with pytest.raises(CalendarError, match="time zone"):
        Calendar().window(Period.DAY, datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(CalendarError, match="1970"):
        Calendar().window(Period.DAY, datetime(1969, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "period"), [("daily", Period.DAY), ("5min", Period.FIVE_MINUTES), ("week", Period.WEEK)]
)
def test_periods_have_names(text: str, period: Period) -> None:
    assert Period.parse(text) is period
    assert Period.parse(str(period)) is period


def test_an_unknown_period_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ParseError, match="did you mean 'month'"):
        Period.parse("mont")


def test_windows_overlap_where_they_share_an_instant() -> None:
    day, next_day = Calendar().window(Period.DAY, "2026-03-29"), Calendar().window(Period.DAY, "2026-03-30")
    assert day.overlaps(Calendar().window(Period.HOUR, "2026-03-29T23"))
    assert not day.overlaps(next_day)
    assert str(day) == "[2026-03-29T00:00:00Z, 2026-03-30T00:00:00Z)"
    assert Window(day.start, next_day.end).duration == day.duration * 2


@pytest.mark.slow
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
def test_every_change_of_every_zone_is_found(every: int) -> None:
    """The table is found by looking every six days: compared with the changes that the database lists (to 2037)."""
    different = {_data(name): name for name in sorted(zone_names(), reverse=True)}
    assert len(different) > 300
    for name in ["Europe/Paris", *list(different.values())[::every]]:
        _compare(name)


def _compare(name: str) -> None:
    listed = dict(_read_changes(name))
    zone = Zone.load(name)
    result = {c: o for c, o in zip(zone.changes[1:], zone.offsets[1:], strict=True) if 0 <= c <= max(listed, default=0)}
    assert result == {instant: offset for instant, offset in listed.items() if instant >= 0}, name


def _data(name: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def _read_changes(name: str) -> list[tuple[int, int]]:
    """(instant, offset from then on) of a TZif file's 64-bit part (RFC 8536), repeated offsets left out."""
    data = _data(name)
    is_ut, is_standard, leaps, times, types, letters = struct.unpack(">6l", data[20:HEAD])
    data = data[HEAD + times * 5 + types * 6 + letters + leaps * 8 + is_standard + is_ut :]
    _, _, _, times, types, _ = struct.unpack(">6l", data[20:HEAD])
    instants = struct.unpack(f">{times}q", data[HEAD : HEAD + 8 * times])
    kinds = data[HEAD + 8 * times : HEAD + 9 * times]
    table = HEAD + 9 * times
    offsets = [struct.unpack(">l", data[table + 6 * kind : table + 6 * kind + 4])[0] for kind in range(types)]
    changes = [(instant, offsets[kind]) for instant, kind in zip(instants, kinds, strict=True)]
    before = [offsets[0], *(offset for _, offset in changes)]
    return [change for change, old in zip(changes, before, strict=False) if change[1] != old]

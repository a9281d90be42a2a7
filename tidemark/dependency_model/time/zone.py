"""Time zones as tables: the changes of the offset to UTC, and the instant at which a local day begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import CalendarError

DAY_SECONDS = 86_400
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
FIRST_YEAR, LAST_YEAR = 1970, 2199
LAST_DAY = date(LAST_YEAR + 1, 1, 1).toordinal() - EPOCH_ORDINAL

_FOREVER = 1 << 60
_SCAN_STEP = 6 * DAY_SECONDS
"""No zone changes its offset twice within six days since 1970 (a test checks the whole database)."""
WITHOUT_WHOLE_HOURS: Final = {
    (-9, -30): "Pacific/Marquesas",
    (4, 30): "Asia/Kabul",
    (5, 30): "Asia/Kolkata",
    (6, 30): "Asia/Yangon",
    (9, 30): "Australia/Darwin",
}
"""Zones that always had one offset since 1970, with minutes (a test checks the whole database)."""
_FIXED = re.compile(r"UTC(?:([+-])(\d{1,2})(?::([0-5]\d))?)?")


@dataclass(frozen=True, slots=True, eq=False)
class Zone:
    """The local clock of one time zone, 1970 to 2199. Instants are in seconds, days in days, both since 1970-01-01.

    `offsets[i]` (seconds east of UTC) begins at the instant `changes[i]`. `local_ends[i]` is the latest local time that
    was shown before `changes[i + 1]`.
    """

    name: str
    changes: tuple[int, ...]
    offsets: tuple[int, ...]
    local_ends: tuple[int, ...]
    unsettled_days: frozenset[int]
    """Days with a change of the offset nearby. All other days follow plain arithmetic."""

    def offset_at(self, instant: int) -> int:
        """Seconds east of UTC."""
        return self.offsets[bisect_right(self.changes, instant) - 1]

    def earliest(self, local: int) -> int:
        """The first instant at which the local clock shows `local` (seconds) or later.

        In a gap this is the instant of the change; in a repeated hour, the first time.
        """
        index = bisect_right(self.local_ends, local)
        return max(self.changes[index], local - self.offsets[index])

    def instants(self, local: int) -> tuple[int, ...]:
        """Each instant at which the local clock shows `local` (seconds); in a gap, the end of the gap."""
        index = bisect_right(self.local_ends, local)
        first = max(self.changes[index], local - self.offsets[index])
        later = range(index + 1, min(index + 2, len(self.changes)))
        repeats = (local - self.offsets[at] for at in later if local - self.offsets[at] >= self.changes[at])
        return first, *repeats

    def offset_before(self, local: int) -> int:
        """Seconds east of UTC at the first `local` time; in a gap, the offset before the gap."""
        index = bisect_right(self.local_ends, local)
        in_gap = self.changes[index] > local - self.offsets[index]
        return self.offsets[index - 1 if in_gap else index]

    def midnight(self, day: int) -> int:
        """The instant at which a local day begins. A day that the zone skips begins with the next day."""
        return self.earliest(day * DAY_SECONDS)

    def day_at(self, instant: int) -> int:
        """The local day that contains an instant."""
        day = (instant + self.offset_at(instant)) // DAY_SECONDS
        if day in self.unsettled_days:
            while self.midnight(day) > instant:
                day -= 1
            while self.midnight(day + 1) <= instant:
                day += 1
        return day

    def changes_within(self, start: int, end: int) -> tuple[int, ...]:
        """Instants in (start, end) at which the offset changes."""
        low, high = bisect_right(self.changes, start), bisect_right(self.changes, end - 1)
        return self.changes[low:high]

    def offsets_within(self, start: int, end: int) -> tuple[int, ...]:
        """The offsets in [start, end), in seconds east of UTC."""
        return self.offsets[bisect_right(self.changes, start) - 1 : bisect_right(self.changes, end - 1)]

    @classmethod
    def load(cls, name: str) -> Zone:
        """The zone of an IANA name, or of a fixed offset such as `UTC+8`. Raises CalendarError."""
        if not isinstance(name, str):
            raise CalendarError("unknown time zone", expected="a name such as Europe/Paris", found=quote_value(name))
        return _load(name)


def zone_info(name: str) -> ZoneInfo:
    """The clock of `Zone.load` for datetimes. Raises CalendarError."""
    return ZoneInfo(iana_name(name))


@lru_cache(maxsize=1024)
def iana_name(name: str) -> str:
    """The IANA name of a zone, which other systems know. Raises CalendarError.

    A fixed offset has one if a zone of the database always had this offset since 1970.
    """
    fixed = _FIXED.fullmatch(name)
    if fixed:
        return _name_of_offset(fixed)
    known = zone_names()
    if name not in known:
        raise CalendarError(
            "unknown time zone",
            expected="an IANA name such as Europe/Paris, or a fixed offset such as UTC+8",
            found=quote_value(name),
            hint=did_you_mean(name, known),
        )
    return name


def _name_of_offset(match: re.Match[str]) -> str:
    hours, minutes = (int(f"{match[1] or ''}{number or 0}") for number in (match[2], match[3]))
    name = WITHOUT_WHOLE_HOURS.get((hours, minutes)) if minutes else f"Etc/GMT{-hours:+d}" if hours else "UTC"
    if name not in zone_names():
        raise CalendarError(
            "no time zone has this offset all year",
            expected=f"UTC-12 to UTC+14, or one of {', '.join(_text(*offset) for offset in WITHOUT_WHOLE_HOURS)}",
            found=quote_value(match[0]),
            hint="write an IANA name such as Asia/Kathmandu",
        )
    return name


def _text(hours: int, minutes: int) -> str:
    return f"UTC{hours:+d}:{abs(minutes)}"


@lru_cache(maxsize=1024)
def _load(name: str) -> Zone:
    return _zone(name, _scan(zone_info(name)))


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every IANA name of the database."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def _scan(zone: ZoneInfo) -> list[tuple[int, int]]:
    """(instant, offset from then on) of every change of the offset; the first instant means 'always before'."""
    start, end = -30 * DAY_SECONDS, (LAST_DAY + 30) * DAY_SECONDS
    changes = [(-_FOREVER, _offset(zone, start))]
    for instant in range(start, end, _SCAN_STEP):
        offset = _offset(zone, instant + _SCAN_STEP)
        if offset != changes[-1][1]:
            changes.append((_bisect(zone, instant, instant + _SCAN_STEP), offset))
    return changes


def _bisect(zone: ZoneInfo, before: int, after: int) -> int:
    old = _offset(zone, before)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if _offset(zone, middle) == old else (before, middle)
    return after


def _offset(zone: ZoneInfo, instant: int) -> int:
    shift = datetime.fromtimestamp(instant, zone).utcoffset() or timedelta()
    return shift.days * DAY_SECONDS + shift.seconds


def _zone(name: str, table: list[tuple[int, int]]) -> Zone:
    changes, offsets = tuple(c for c, _ in table), tuple(o for _, o in table)
    ends = [*(change + offset for change, offset in zip(changes[1:], offsets, strict=False)), _FOREVER]
    return Zone(name, changes, offsets, tuple(accumulate(ends, max)), _unsettled(changes, offsets))


def _unsettled(changes: tuple[int, ...], offsets: tuple[int, ...]) -> frozenset[int]:
    days: set[int] = set()
    for change, before, after in zip(changes[1:], offsets, offsets[1:], strict=False):
        low, high = sorted(((change + before) // DAY_SECONDS, (change + after) // DAY_SECONDS))
        days.update(range(low - 1, high + 2))
    return frozenset(days)

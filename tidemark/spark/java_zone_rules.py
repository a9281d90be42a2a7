"""The time-zone rules of a Java runtime, from its own file, and where they differ from ours.

Slices use the `tzdata` package. Dates and hours of instants in queries use Java's rules, which are as old as its last
update. The file is `lib/tzdb.dat`, in the format of Java's own classes.
"""

from __future__ import annotations

import shutil
import struct
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL, LAST_YEAR, Zone

if TYPE_CHECKING:
    from collections.abc import Mapping

_QUARTER: Final = 900
_FIRST_SECOND: Final = -4_575_744_000
_BY_UTC, _BY_WALL = 0, 1
_RULES: Final = 1
_END: Final = (date(LAST_YEAR, 1, 1).toordinal() - EPOCH_ORDINAL) * DAY_SECONDS


@dataclass(frozen=True)
class JavaZoneRules:
    """`version` of the database, such as `2025b`; unparsed `rules` by IANA name."""

    version: str
    rules: Mapping[str, bytes]


class _JavaNumbers:
    """Reads Java's numbers one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self._data, self._at)
        self._at += struct.calcsize(form)
        return int(value)

    def bytes_(self) -> bytes:
        size = self.number("H")
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        return self.bytes_().decode()

    def offset(self) -> int:
        quarters = self.number("b")
        return self.number("i") if quarters == 127 else quarters * _QUARTER

    def second(self) -> int:
        high = self.number("B")
        if high == 255:
            return self.number("q")
        return ((high << 16) + (self.number("B") << 8) + self.number("B")) * _QUARTER + _FIRST_SECOND


@lru_cache(maxsize=2)
def java_zone_rules(command: str) -> JavaZoneRules | None:
    """The rules of the Java that a command starts; None if its file is missing or in another format."""
    program = shutil.which(command)
    file = Path(program).resolve().parent.parent / "lib" / "tzdb.dat" if program else None
    if file is None or not file.is_file():
        return None
    reader = _JavaNumbers(file.read_bytes())
    if reader.number("b") != 1 or reader.text() != "TZDB":
        return None
    versions = [reader.text() for _ in range(reader.number("H"))]
    names = [reader.text() for _ in range(reader.number("H"))]
    rules = [reader.bytes_() for _ in range(reader.number("H"))]
    by_name: dict[str, bytes] = {}
    for _ in versions:
        for _ in range(reader.number("H")):
            name = names[reader.number("H")]
            by_name[name] = rules[reader.number("H")]
    for _ in range(reader.number("H")):
        alias = names[reader.number("H")]
        by_name[alias] = by_name[names[reader.number("H")]]
    return JavaZoneRules(versions[-1], by_name)


@lru_cache(maxsize=256)
def differences(name: str, command: str) -> tuple[tuple[int, int], ...]:
    """Spans of time, in seconds since 1970, in which Java's clock of a zone differs from ours; empty if unknown.

    The last span may reach to the end of the calendar.
    """
    java = java_zone_rules(command)
    if java is None or (name not in java.rules and "/" not in name):  # a short name of another kind: EST, +08:00
        return ()
    if name not in java.rules:
        return ((0, _END),)
    ours = Zone.load(name)
    changes, offsets = _changes(java.rules[name])
    points = sorted({0, _END, *(at for at in (*ours.changes, *changes) if 0 < at < _END)})
    stretches: list[tuple[int, int]] = []
    for first, after in pairwise(points):
        if ours.offset_at(first) == offsets[bisect_right(changes, first)]:
            continue
        if stretches and stretches[-1][1] == first:
            stretches[-1] = (stretches[-1][0], after)
        else:
            stretches.append((first, after))
    return tuple(stretches)


def _changes(rules: bytes) -> tuple[list[int], list[int]]:
    """The times at which the UTC offset changes, and the offsets, beginning with the offset before the first change."""
    reader = _JavaNumbers(rules)
    if reader.number("b") != _RULES:
        raise ValueError("no rules for a time zone")
    standard = reader.number("i")
    for _ in range(standard):
        reader.second()
    for _ in range(standard + 1):
        reader.offset()
    count = reader.number("i")
    changes = [reader.second() for _ in range(count)]
    offsets = [reader.offset() for _ in range(count + 1)]
    yearly = [_YearlyChange.read(reader) for _ in range(reader.number("b"))]
    if yearly and changes:
        first_year = date.fromordinal(changes[-1] // DAY_SECONDS + EPOCH_ORDINAL).year
        later = sorted(
            (change.instant(year), change.after) for year in range(first_year, LAST_YEAR + 1) for change in yearly
        )
        for instant, offset in later:
            if instant > changes[-1]:
                changes.append(instant)
                offsets.append(offset)
    return changes, offsets


@dataclass(frozen=True)
class _YearlyChange:
    """A yearly change of the clock: on a day of a month, or a weekday near it."""

    month: int
    day: int
    weekday: int
    seconds: int
    counted_by: int
    standard: int
    before: int
    after: int

    @classmethod
    def read(cls, reader: _JavaNumbers) -> _YearlyChange:
        data = reader.number("I")
        hour, standard = (data >> 14) & 31, (data >> 4) & 255
        seconds = reader.number("i") if hour == 31 else hour * 3600
        offset = reader.number("i") if standard == 255 else (standard - 128) * _QUARTER
        before, after = (data >> 2) & 3, data & 3
        from_ = reader.number("i") if before == 3 else offset + before * 1800
        to = reader.number("i") if after == 3 else offset + after * 1800
        day, weekday = ((data >> 22) & 63) - 32, (data >> 19) & 7
        return cls(data >> 28, day, weekday, seconds, (data >> 12) & 3, offset, from_, to)

    def instant(self, year: int) -> int:
        """The time of the change in a year."""
        if self.day < 0:
            next_month = date(year + self.month // 12, self.month % 12 + 1, 1)
            day = next_month + timedelta(days=self.day)
            day -= timedelta(days=(day.isoweekday() - self.weekday) % 7 if self.weekday else 0)
        else:
            day = date(year, self.month, self.day)
            day += timedelta(days=(self.weekday - day.isoweekday()) % 7 if self.weekday else 0)
        local = (day.toordinal() - EPOCH_ORDINAL) * DAY_SECONDS + self.seconds
        if self.counted_by == _BY_UTC:
            return local
        return local - (self.before if self.counted_by == _BY_WALL else self.standard)

"""The partition columns of a slice's rows.

`dt` is the local date on which the slice starts. Slices shorter than a day have `hour`, and `minute`, as text. The hour
that autumn repeats keeps its offset (`02+01:00`), so that both are partitions and `hour BETWEEN '00' AND '23'` still
includes the whole day.

An entity or a project may declare other columns with the same content: a text such as 20260329, a number, several keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTITION_COLUMNS: Final = ("dt", "hour", "minute")
"""The default columns, from the longest unit to the shortest."""
UNITS: Final = ("yyyy", "MM", "dd", "HH", "mm")
"""The units in a pattern, from the longest to the shortest."""

PartitionValue = date | str | int

_OF_PERIOD: Final = {Period.YEAR: UNITS[:1], Period.QUARTER: UNITS[:2], Period.MONTH: UNITS[:2]}
_DECLARED: Final = re.compile(r"(?:(int) +)?((?:yyyy|MM|dd|HH|mm|[-_.: ])+)", re.ASCII)
_UNIT: Final = re.compile("|".join(UNITS))
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,127}", re.ASCII)
_DIGITS: Final = 8
_FORMS: Final = "date, yyyyMMdd, yyyy-MM-dd, int yyyyMMdd, HH, and other combinations of yyyy, MM, dd, HH and mm"


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """`type` is Spark's (`date`, `string`, `int`). `pattern` is the form of the slice's start for string and int."""

    name: str
    type: str
    pattern: str = ""

    @classmethod
    def parse(cls, name: str, declared: str) -> PartitionColumn:
        """`ds` with `yyyyMMdd`, `int yyyyMMdd` or `date`. Raises ParseError."""
        if not _NAME.fullmatch(name):
            raise ParseError("invalid name of a partition column", expected="small letters, digits and _", found=name)
        if declared == "date":
            return cls(name, "date")
        match = _DECLARED.fullmatch(declared)
        if match is None:
            raise ParseError(f"unknown form of the partition column {name}", expected=_FORMS, found=declared)
        column = cls(name, match[1] or "string", match[2])
        column._require_order(declared)
        return column

    def _require_order(self, declared: str) -> None:
        """Raises ParseError if values would not rise with time, or would not be numbers."""
        places = [UNITS.index(unit) for unit in self.units]
        if not places or places != list(range(places[0], places[-1] + 1)):
            raise ParseError(
                f"the partition column {self.name} does not grow with time",
                expected="units in order, the longest first: yyyyMMdd",
                found=declared,
            )
        if self.type == "int" and (_UNIT.sub("", self.pattern) or len(self.pattern) > _DIGITS):
            raise ParseError(
                f"the partition column {self.name} cannot be an int",
                expected=f"at most {_DIGITS} digits without other characters between them",
                found=declared,
                hint=f"declare it as a text: {self.pattern}",
            )

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the slice's start that it has."""
        return UNITS[:3] if self.type == "date" else _units_in(self.pattern)

    @property
    def declared(self) -> str:
        """The form as it is written in a declaration."""
        return " ".join(part for part in (self.type if self.type != "string" else "", self.pattern) if part)

    def value(self, day: date, hour: str = "", minute: str = "") -> PartitionValue:
        """The value for the slice that starts on a local day at an hour (`02`, or `02+01:00`) and minute."""
        if self.type == "date":
            return day
        text = self.text((f"{day.year:04}", f"{day.month:02}", f"{day.day:02}", hour[:2] or "00", minute or "00"))
        if "HH" in self.pattern:
            text += hour[2:]
        return text if self.type == "string" else int(text)

    def text(self, shown: Sequence[str]) -> str:
        """The pattern with the texts of year, month, day, hour and minute."""
        return _template(self.pattern).format(*shown)


@lru_cache(maxsize=256)
def _units_in(pattern: str) -> tuple[str, ...]:
    return tuple(_UNIT.findall(pattern))


@lru_cache(maxsize=256)
def _template(pattern: str) -> str:
    """The pattern with the index of each unit: `{0}-{1}-{2}`."""
    return _UNIT.sub(lambda match: f"{{{UNITS.index(match[0])}}}", pattern)


_DEFAULT: Final = (
    PartitionColumn("dt", "date"),
    PartitionColumn("hour", "string", "HH"),
    PartitionColumn("minute", "string", "mm"),
)


def parse_partition_columns(declared: Mapping[str, str]) -> tuple[PartitionColumn, ...]:
    """`{ds: yyyyMMdd, hh: HH}`, in that order. Raises ParseError."""
    return tuple(PartitionColumn.parse(name, form) for name, form in declared.items())


def units_of(period: Period) -> tuple[str, ...]:
    """The units that distinguish slices of a period."""
    if period.is_clock:
        return UNITS[:4] if period.minutes == 60 else UNITS
    return _OF_PERIOD.get(period, UNITS[:3])


@lru_cache(maxsize=1024)
def time_columns(period: Period | None, declared: tuple[PartitionColumn, ...] = ()) -> tuple[PartitionColumn, ...]:
    """The columns that hold the slice of a row: all declared ones with a unit of the period."""
    if period is None:
        return ()
    wanted = {*units_of(period)}
    return tuple(column for column in declared or _DEFAULT if not wanted.isdisjoint(column.units))


def are_as_by_default(columns: Sequence[PartitionColumn]) -> bool:
    """Whether columns have the default forms of date, hour and minute, under any names."""
    return [(column.type, column.pattern) for column in columns] == [
        (column.type, column.pattern) for column in _DEFAULT[: len(columns)]
    ]


def partition_columns(period: Period | None) -> tuple[str, ...]:
    """The default names of the columns that hold the slice of a row."""
    return tuple(column.name for column in time_columns(period))


def clock_values(key: str) -> tuple[str, ...]:
    """Date, hour and, if any, minute of the key of a slice shorter than a day, as text."""
    day, _, clock = key.partition("T")
    if clock[2:3] != ":":
        return day, clock
    return day, clock[:2] + clock[5:], clock[3:5]

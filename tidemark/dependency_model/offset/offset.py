"""The value of an offset, and its text form.

    Set -7,-1         counted in the upstream's periods, from the first one of the downstream's window.
    Range -6..0       the same for a range (`Range 0-23` is allowed, too).
    Set 2 once        without the slices that the clock shows for the second time: hour = '02' does not read 02+01:00.
    all               every upstream period in the window.
    all week          every upstream period in the enclosing week (`all_week` is allowed, too).
    to_date month     from the start of the enclosing month to the window's end (`month_to_date` is allowed, too).
    to_date           the same, with the downstream's granularity as the enclosing period.
    all day -1        every upstream period of the day before (`hours of day -1` is allowed, too).
    all day -6..0     every upstream period of seven days.
    first of month    the first upstream period of the enclosing month.
    last of month -1  the last upstream period of the month before.
    Set 14 of month   counted from the first upstream period of the enclosing month.
    to_date month -1  the same for the month before: up to the window's end a month ago.
    date -1 year      the same date a year ago, for the downstream's window.
    workday -1        the last workday before the window's date, by the entity's calendar of `holidays`; 0 is that date.
    last workday of month  the last workday of the enclosing month; also `first workday of month -1`.
    since start       from the upstream's start to the window's end; `since 2024-01-01` from that day on.
    last_available    the newest existing upstream slice that ended by the window's end.
    static            the only slice of an upstream without periods.

Source: seed capability A3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OffsetKind(Enum):
    """The way in which an offset names slices."""

    COUNTED = "counted"
    ALL = "all"
    LAST = "last"
    TO_DATE = "to_date"
    DATE = "date"
    SINCE = "since"
    WORKDAY = "workday"
    FIRST_WORKDAY = "first workday"
    LAST_WORKDAY = "last workday"
    LAST_AVAILABLE = "last_available"
    STATIC = "static"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python


COUNT_LIMIT = 200_000
"""The largest count of an offset: nearly two years of five minutes."""
LIST_LIMIT = 1_000
"""The most single counts in a `Set`."""
PERIODS_LIMIT = 4_000
"""The most periods between a slice and the periods of `all day -1` and similar offsets, and the most that they may
have."""
START = "start"

Runs = tuple[tuple[int, int], ...]
"""Counted ranges, both ends inclusive, in order and not adjacent."""
_OWN: Runs = ((0, 0),)


@dataclass(frozen=True, slots=True)
class Offset:
    """The upstream slices that a slice needs. Equal meanings are equal values: `Set 0,1,2` equals `Range 0..2`.

    `runs` counts upstream slices; for DATE, shifts of the date by `within`; for WORKDAY, workdays. `periods` counts
    periods `within` from the enclosing one; empty means the enclosing one. `since` is a date, or `start`. `once` leaves
    out the slices that the clock shows for the second time.
    """

    kind: OffsetKind
    runs: Runs = ()
    within: Period | None = None
    periods: Runs = ()
    since: str = ""
    once: bool = False

    @classmethod
    def parse(cls, text: str) -> Offset:
        """Parses an offset. Raises ParseError with the place and the allowed forms."""
        return _parse(text)

    @classmethod
    def of_counts(cls, counts: Iterable[int]) -> Offset:
        """`Set`: single counts in any order. Raises ParseError if there are none."""
        return cls._of_runs(runs_of(counts))

    @classmethod
    def range(cls, first: int, last: int) -> Offset:
        """`Range`: both ends included. Raises ParseError if it is empty."""
        return cls._of_runs(((first, last),))

    @classmethod
    def _of_runs(cls, runs: Runs) -> Offset:
        return cls(OffsetKind.COUNTED, checked_runs(runs, COUNT_LIMIT))

    def of_periods(self, within: Period, periods: Runs = _OWN) -> Offset:
        """The same offset, applied to periods around the window. Raises ParseError."""
        checked = checked_runs(periods, PERIODS_LIMIT)
        return replace(self, within=within, periods=() if checked == _OWN else checked)

    @property
    def counts(self) -> tuple[int, ...]:
        """Every count of a `Set` or `Range`, in order."""
        return tuple(count for first, last in self.runs for count in range(first, last + 1))

    @property
    def is_exact(self) -> bool:
        """Whether it names fixed slices. `last_available` takes an older slice if the newest is missing."""
        return self.kind is not OffsetKind.LAST_AVAILABLE

    @property
    def goes_on(self) -> bool:
        """Whether all later slices also need the same upstream slice."""
        return self.kind is OffsetKind.SINCE

    def __str__(self) -> str:
        match self.kind:
            case OffsetKind.SINCE:
                return f"since {self.since}"
            case OffsetKind.DATE:
                return f"date {_counts_text(self.runs)} {self.within}"
            case OffsetKind.WORKDAY:
                return f"workday {_counts_text(self.runs)}"
            case OffsetKind.FIRST_WORKDAY | OffsetKind.LAST_WORKDAY:
                return f"{self.kind.value} of {self._periods_text()}"
            case OffsetKind.COUNTED | OffsetKind.LAST:
                what = self._slices_text()
                what = f"{what} of {self._periods_text()}" if self.within else what
                return f"{what}{_ONCE}" if self.once else what
        return f"{self.kind.value} {self._periods_text()}" if self.within else self.kind.value

    def _slices_text(self) -> str:
        if self.kind is OffsetKind.LAST:
            return "last"
        if self.within and self.runs == _OWN:
            return "first"
        text = _counts_text(self.runs)
        return f"Range {text}" if ".." in text else f"Set {text}"

    def _periods_text(self) -> str:
        return f"{self.within} {_counts_text(self.periods)}" if self.periods else str(self.within)


def runs_of(counts: Iterable[int]) -> Runs:
    """Counts in any order as ranges."""
    runs: list[tuple[int, int]] = []
    for count in sorted(set(counts)):
        if runs and runs[-1][1] == count - 1:
            runs[-1] = (runs[-1][0], count)
        else:
            runs.append((count, count))
    return tuple(runs)


def checked_runs(runs: Runs, limit: int) -> Runs:
    """The same runs. Raises ParseError if they are empty or their counts are too large."""
    if not runs or any(first > last for first, last in runs):
        raise ParseError("this offset has no slices", hint="a range goes from the lower count to the higher one")
    if max(-runs[0][0], runs[-1][1]) > limit:
        raise ParseError("this offset is too large", expected=f"counts of at most {limit}")
    return runs


def _counts_text(runs: Runs) -> str:
    """`-6..0` for one range of more than two counts, else all counts with commas."""
    if len(runs) == 1 and runs[0][1] - runs[0][0] > 1:
        return f"{runs[0][0]}..{runs[0][1]}"
    return ",".join(str(count) for first, last in runs for count in range(first, last + 1))


SAME = Offset.of_counts([0])
ALL = Offset(OffsetKind.ALL)
STATIC = Offset(OffsetKind.STATIC)
LAST_AVAILABLE = Offset(OffsetKind.LAST_AVAILABLE)

LAST = Offset(OffsetKind.LAST)
TO_DATE = Offset(OffsetKind.TO_DATE)
_WORKDAYS = {kind.value: Offset(kind) for kind in (OffsetKind.FIRST_WORKDAY, OffsetKind.LAST_WORKDAY)}
SINCE_START = Offset(OffsetKind.SINCE, since=START)

_ONCE = " once"
_LIMIT = 8 * LIST_LIMIT
_COUNTED = re.compile(r"(set|range)(?:,|\s)\s*(.*)", re.IGNORECASE)
_COUNT = re.compile(r"[+-]?\d{1,7}", re.ASCII)
_RANGE = re.compile(r"([+-]?\d{1,7})\s*(?:\.\.|-)\s*([+-]?\d{1,7})", re.ASCII)
_OF_PERIOD = re.compile(r"(?:(.+) of|(all)) (\w+)(?: (.+))?", re.IGNORECASE)
_DATE = re.compile(r"date (.+) (\w+)", re.IGNORECASE)
_TO_DATE = re.compile(r"to_date (\w+) (.+)", re.IGNORECASE)
_WORKDAY = re.compile(r"workdays? (.+)", re.IGNORECASE)
_SINCE = re.compile(r"since (\d{4}-\d{2}-\d{2})", re.ASCII | re.IGNORECASE)
_DASHES = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-"})
"""Hyphens and minus signs that word processors use instead of `-`."""

_ENCLOSING = (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR)
_DATE_UNITS = _ENCLOSING[1:]
_ALL_OF = frozenset(("all", "slices", "minutes", *(f"{period}s" for period in _ENCLOSING)))
"""`hours of day -1`: the word for the slices does not matter, because the upstream has its own period."""

_NAMED = {
    "all": ALL,
    "last_available": LAST_AVAILABLE,
    "last available": LAST_AVAILABLE,
    "static": STATIC,
    "same": SAME,
    "previous": Offset.of_counts([-1]),
    "to_date": TO_DATE,
    "since start": SINCE_START,
}
for _period in _ENCLOSING:
    _all, _to_date = Offset(OffsetKind.ALL, (), _period), Offset(OffsetKind.TO_DATE, (), _period)
    _NAMED |= {f"all {_period}": _all, f"all_{_period}": _all}
    _NAMED |= {f"to_date {_period}": _to_date, f"{_period}_to_date": _to_date}
    _NAMED |= {f"first of {_period}": SAME.of_periods(_period), f"last of {_period}": LAST.of_periods(_period)}

_ALLOWED = (
    "'Set 0,-1', 'Range -6..0', 'all', 'all week', 'all day -1', 'to_date month', 'first of month', 'date -1 year', "
    "'workday -1', 'last workday of month', 'since start', 'last_available' or 'static'"
)


@lru_cache(maxsize=8192)
def _parse(text: str) -> Offset:
    if not isinstance(text, str) or len(text) > _LIMIT:
        raise _unreadable(text, "this is not an offset")
    plain = " ".join(text.translate(_DASHES).split())
    named = _NAMED.get(plain)
    if named is not None:
        return named
    if plain.lower().endswith(_ONCE):
        return _once(plain[: -len(_ONCE)], text)
    for pattern, read in ((_OF_PERIOD, _of_period), *_OTHERS):
        match = pattern.fullmatch(plain)
        offset = read(match, text) if match else None
        if offset is not None:
            return offset
    raise _unreadable(text, "this is not an offset", did_you_mean(plain, [*_NAMED, "Set", "Range"]))


def _once(plain: str, text: str) -> Offset:
    offset = _parse(plain)
    if offset.kind is not OffsetKind.COUNTED or offset.once:
        raise _unreadable(text, "'once' must follow a Set or a Range", "write Set 2 once, or Set 2 of day -1 once")
    return replace(offset, once=True)


def _of_period(match: re.Match[str], text: str) -> Offset | None:
    """Parses `first of month -1` or `all day -6..0`; None if there is no period."""
    within = _unit(match[3], _ENCLOSING)
    if within is None:
        return None
    what = (match[1] or match[2]).lower()
    if what in _WORKDAYS:
        if within not in _DATE_UNITS[1:]:
            raise _unreadable(text, f"a {within} has no first or last workday", "write week, month, quarter or year")
        return _WORKDAYS[what].of_periods(within, _runs(match[4], text) if match[4] else _OWN)
    counted = _COUNTED.fullmatch(what)
    inner = SAME if what == "first" else LAST if what == "last" else ALL if what in _ALL_OF else None
    if inner is None and counted is None:
        raise _unreadable(
            text, f"{quote_value(what)} is not a part of a {within}", "write all, first, last, Set or Range"
        )
    offset = inner or _counted(counted, text)  # type: ignore[arg-type]
    return offset.of_periods(within, _runs(match[4], text) if match[4] else _OWN)


def _date(match: re.Match[str], text: str) -> Offset:
    unit = _unit(match[2], _DATE_UNITS)
    if unit is None:
        raise _unreadable(
            text, f"a date cannot be shifted by {quote_value(match[2])}", "write day, week, month, quarter or year"
        )
    return Offset(OffsetKind.DATE, checked_runs(_runs(match[1], text), PERIODS_LIMIT), unit)


def _of_other_periods(match: re.Match[str], text: str) -> Offset | None:
    """Parses `to_date month -1`; None if there is no period."""
    within = _unit(match[1], _DATE_UNITS)
    return TO_DATE.of_periods(within, _runs(match[2], text)) if within else None


def _workday(match: re.Match[str], text: str) -> Offset:
    return Offset(OffsetKind.WORKDAY, checked_runs(_runs(match[1], text), PERIODS_LIMIT))


def _since(match: re.Match[str], text: str) -> Offset:
    try:
        date.fromisoformat(match[1])
    except ValueError as error:
        raise _unreadable(text, f"this date does not exist: {match[1]}") from error
    return Offset(OffsetKind.SINCE, since=match[1])


def _unit(word: str, allowed: Iterable[Period]) -> Period | None:
    return next((period for period in allowed if word.lower() in (str(period), f"{period}s")), None)


def _counted(match: re.Match[str], text: str) -> Offset:
    return (_set if match[1].lower() == "set" else _range)(match[2], text)


def _runs(counts: str, text: str) -> Runs:
    """`-1`, `-2,-1` or `-6..0`."""
    return (_range if ".." in counts else _set)(counts, text).runs


def _set(rest: str, text: str) -> Offset:
    parts = [part.strip() for part in rest.split(",")]
    if len(parts) > LIST_LIMIT:
        raise _unreadable(text, f"a Set lists at most {LIST_LIMIT} counts", "write a Range")
    for position, part in enumerate(parts, start=1):
        if not _COUNT.fullmatch(part):
            raise _unreadable(text, f"count {position} of the Set is {quote_value(part)}, not a whole number")
    return Offset.of_counts(int(part) for part in parts)


def _range(rest: str, text: str) -> Offset:
    match = _RANGE.fullmatch(rest)
    if not match:
        raise _unreadable(text, f"the Range needs two ends, not {quote_value(rest)}", "write Range 0..23 or Range 0-23")
    return Offset.range(int(match[1]), int(match[2]))


def _unreadable(text: object, message: str, hint: str | None = None) -> ParseError:
    return ParseError(message, expected=_ALLOWED, found=quote_value(text), hint=hint)


_OTHERS = (
    (_DATE, _date),
    (_TO_DATE, _of_other_periods),
    (_WORKDAY, _workday),
    (_SINCE, _since),
    (_COUNTED, _counted),
)

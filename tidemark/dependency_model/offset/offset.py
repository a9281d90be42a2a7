"""The value of an offset, and its one text form.

    Set -7,-1         counted in the upstream's periods, from the first one of the downstream's window
    Range -6..0       the same, a whole stretch (`Range 0-23` reads too)
    all               every upstream period in the window
    all week          every upstream period in the enclosing week (`all_week` reads too)
    to_date month     from the start of the enclosing month to the window's end (`month_to_date` reads too)
    to_date           the same, with the downstream's granularity as the enclosing period
    last_available    the newest upstream slice that ended by the window's end and is there
    static            the one slice of an upstream without periods

Source: seed capability A3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OffsetKind(Enum):
    """How an offset names slices."""

    COUNTED = "counted"
    ALL = "all"
    TO_DATE = "to_date"
    LAST_AVAILABLE = "last_available"
    STATIC = "static"

    __hash__ = object.__hash__  # members are single objects; Enum's own hash goes through Python


COUNT_LIMIT = 200_000
"""How far an offset may count: nearly two years of five minutes."""
LIST_LIMIT = 1_000
"""How many single counts a `Set` may list."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Which upstream slices a slice needs. Equal offsets name equal slices: `Set 0,1,2` is `Range 0..2`.

    `runs` holds the counted stretches, first and last inclusive, in order and apart from each other.
    """

    kind: OffsetKind
    runs: tuple[tuple[int, int], ...] = ()
    within: Period | None = None

    @classmethod
    def parse(cls, text: str) -> Offset:
        """The offset of a text. Raises ParseError, which says where and what is allowed."""
        return _parse(text)

    @classmethod
    def of_counts(cls, counts: Iterable[int]) -> Offset:
        """`Set`: single counts in any order. Raises ParseError where there are none."""
        runs: list[tuple[int, int]] = []
        for count in sorted(set(counts)):
            if runs and runs[-1][1] == count - 1:
                runs[-1] = (runs[-1][0], count)
            else:
                runs.append((count, count))
        return cls._of_runs(tuple(runs))

    @classmethod
    def range(cls, first: int, last: int) -> Offset:
        """`Range`: a stretch, both ends included. Raises ParseError where it is empty."""
        return cls._of_runs(((first, last),))

    @classmethod
    def _of_runs(cls, runs: tuple[tuple[int, int], ...]) -> Offset:
        if not runs or any(first > last for first, last in runs):
            raise ParseError("this offset names no slice", hint="a range goes from the lower count to the higher one")
        if max(-runs[0][0], runs[-1][1]) > COUNT_LIMIT:
            raise ParseError("this offset counts too far", expected=f"counts of at most {COUNT_LIMIT}")
        return cls(OffsetKind.COUNTED, runs)

    @property
    def counts(self) -> tuple[int, ...]:
        """Every count of a `Set` or `Range`, in order."""
        return tuple(count for first, last in self.runs for count in range(first, last + 1))

    @property
    def is_exact(self) -> bool:
        """Whether it names fixed slices; `last_available` takes an older one where the newest is missing."""
        return self.kind is not OffsetKind.LAST_AVAILABLE

    def __str__(self) -> str:
        if self.kind is not OffsetKind.COUNTED:
            return f"{self.kind.value} {self.within}" if self.within else self.kind.value
        if len(self.runs) == 1 and self.runs[0][1] - self.runs[0][0] > 1:
            return f"Range {self.runs[0][0]}..{self.runs[0][1]}"
        return f"Set {','.join(str(count) for count in self.counts)}"


SAME = Offset.of_counts([0])
ALL = Offset(OffsetKind.ALL)
STATIC = Offset(OffsetKind.STATIC)
LAST_AVAILABLE = Offset(OffsetKind.LAST_AVAILABLE)

_LIMIT = 8 * LIST_LIMIT
_COUNTED = re.compile(r"(set|range)(?:,|\s)\s*(.*)", re.IGNORECASE)
_COUNT = re.compile(r"[+-]?\d{1,7}", re.ASCII)
_RANGE = re.compile(r"([+-]?\d{1,7})\s*(?:\.\.|-)\s*([+-]?\d{1,7})", re.ASCII)
_DASHES = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-"})
"""Hyphens and minus signs that word processors put where a keyboard has `-`."""

_NAMED = {
    "all": ALL,
    "last_available": LAST_AVAILABLE,
    "last available": LAST_AVAILABLE,
    "static": STATIC,
    "same": SAME,
    "previous": Offset.of_counts([-1]),
    "to_date": Offset(OffsetKind.TO_DATE),
}
for _period in (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR):
    _all, _to_date = Offset(OffsetKind.ALL, (), _period), Offset(OffsetKind.TO_DATE, (), _period)
    _NAMED |= {f"all {_period}": _all, f"all_{_period}": _all}
    _NAMED |= {f"to_date {_period}": _to_date, f"{_period}_to_date": _to_date}

_ALLOWED = "'Set 0,-1', 'Range -6..0', 'all', 'all week', 'to_date month', 'last_available' or 'static'"


@lru_cache(maxsize=8192)
def _parse(text: str) -> Offset:
    if not isinstance(text, str) or len(text) > _LIMIT:
        raise _unreadable(text, "this is no offset")
    plain = text.translate(_DASHES).strip()
    named = _NAMED.get(plain)
    if named is not None:
        return named
    counted = _COUNTED.fullmatch(plain)
    if counted is None:
        raise _unreadable(text, "this is no offset", did_you_mean(plain, [*_NAMED, "Set", "Range"]))
    return (_set if counted[1].lower() == "set" else _range)(counted[2], text)


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
        raise _unreadable(text, f"the Range has no two ends in {quote_value(rest)}", "write Range 0..23 or Range 0-23")
    return Offset.range(int(match[1]), int(match[2]))


def _unreadable(text: object, message: str, hint: str | None = None) -> ParseError:
    return ParseError(message, expected=_ALLOWED, found=quote_value(text), hint=hint)

"""From text to an offset. One word, then what belongs to it; every error says where and what is allowed."""

from __future__ import annotations

import re
from functools import lru_cache

from tidemark.dependency_model.errors import ParseError
from tidemark.dependency_model.offset.offset import ALL, LAST_AVAILABLE, LIST_LIMIT, SAME, STATIC, Offset, OffsetKind
from tidemark.dependency_model.suggestion import did_you_mean, shown
from tidemark.dependency_model.time.period import Period

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
    "previous": Offset.counted([-1]),
    "to_date": Offset(OffsetKind.TO_DATE),
}
for _period in (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR):
    _all, _to_date = Offset(OffsetKind.ALL, (), _period), Offset(OffsetKind.TO_DATE, (), _period)
    _NAMED |= {f"all {_period}": _all, f"all_{_period}": _all}
    _NAMED |= {f"to_date {_period}": _to_date, f"{_period}_to_date": _to_date}

_ALLOWED = "'Set 0,-1', 'Range -6..0', 'all', 'all week', 'to_date month', 'last_available' or 'static'"


@lru_cache(maxsize=8192)
def parse_offset(text: str) -> Offset:
    """The offset of a text. Raises ParseError."""
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
            raise _unreadable(text, f"count {position} of the Set is {shown(part)}, not a whole number")
    return Offset.counted(int(part) for part in parts)


def _range(rest: str, text: str) -> Offset:
    match = _RANGE.fullmatch(rest)
    if not match:
        raise _unreadable(text, f"the Range has no two ends in {shown(rest)}", "write Range 0..23 or Range 0-23")
    return Offset.range(int(match[1]), int(match[2]))


def _unreadable(text: object, message: str, hint: str | None = None) -> ParseError:
    return ParseError(message, expected=_ALLOWED, found=shown(text), hint=hint)

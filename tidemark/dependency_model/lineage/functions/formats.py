"""Date patterns as sqlglot gives them: Spark's letters in the form of strftime."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Final

from tidemark.dependency_model.lineage.functions.calendar_arithmetic import date_of
from tidemark.dependency_model.lineage.type_conversion import days

_PART = re.compile(r"%([YmdHMS]|B|b|a|j|y)(strict)?")
_DIGITS: Final = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
_ORDER: Final = "YmdHMS"
_PATTERNS: Final = 256
"""The most patterns that are cached: a query has few, and uses each for thousands of texts."""
_NO_TEXT: Final = re.compile(r"[A-Za-z%'\[\]#{}]")


class _Formats:
    """Every pattern of years, months, days, hours, minutes and seconds, zero-padded, each at most once.

    Remaining letters are parts that sqlglot does not know (`Q`, `e`); quotes and brackets contain literal text.
    """

    def __contains__(self, form: object) -> bool:
        return isinstance(form, str) and _is_known(form)


@lru_cache(maxsize=_PATTERNS)
def _is_known(form: str) -> bool:
    if _NO_TEXT.search(_PART.sub("", form)):
        return False
    parts = [(match[1], match[2]) for match in _PART.finditer(form)]
    letters = [letter for letter, _ in parts]
    return len(set(letters)) == len(letters) and all(
        letter in _ORDER and (strict or letter == "Y") for letter, strict in parts
    )


FORMATS: Final = _Formats()


@lru_cache(maxsize=_PATTERNS)
def is_ordered(form: str) -> bool:
    """Whether later times have greater texts: parts from the longest to the shortest, without gaps."""
    letters = "".join(match[1] for match in _PART.finditer(form))
    return bool(letters) and _ORDER.startswith(letters)


def is_all_digits(form: object) -> bool:
    """Whether texts of a pattern are only digits and rise with time."""
    return isinstance(form, str) and form in FORMATS and is_ordered(form) and not _PART.sub("", form)


def print_instant(day: int, second: int, form: str) -> str:
    """Formats an instant. Raises ValueError for a pattern with other parts."""
    if form not in FORMATS:
        raise ValueError(form)
    as_date = date_of(day)
    values = {
        "Y": f"{as_date.year:04}",
        "m": f"{as_date.month:02}",
        "d": f"{as_date.day:02}",
        "H": f"{second // 3600:02}",
        "M": f"{second // 60 % 60:02}",
        "S": f"{second % 60:02}",
    }
    return _PART.sub(lambda match: values[match[1]], form)


def parse_day(text: str, form: str) -> int:
    """The day of a text in a pattern. Raises ValueError if the text does not fit, or the pattern has other parts."""
    return parse_instant(text, form)[0]


def parse_instant(text: str, form: str) -> tuple[int, int]:
    """Day and second of the day of a text in a pattern. Raises ValueError as `parse_day`."""
    if form not in FORMATS:
        raise ValueError(form)
    text_match = _pattern(form).fullmatch(text)
    if text_match is None:
        raise ValueError(text)
    part = {
        "m": 1,
        "d": 1,
        "H": 0,
        "M": 0,
        "S": 0,
        **{name: int(digits) for name, digits in text_match.groupdict().items()},
    }
    if part["H"] > 23 or part["M"] > 59 or part["S"] > 59:
        raise ValueError(text)
    return days(date(part["Y"], part["m"], part["d"])), part["H"] * 3600 + part["M"] * 60 + part["S"]


@lru_cache(maxsize=_PATTERNS)
def _pattern(form: str) -> re.Pattern[str]:
    pattern, end = "", 0
    for match in _PART.finditer(form):
        pattern += re.escape(form[end : match.start()]) + rf"(?P<{match[1]}>\d{{{_DIGITS[match[1]]}}})"
        end = match.end()
    return re.compile(pattern + re.escape(form[end:]), re.ASCII)


@lru_cache(maxsize=_PATTERNS)
def date_prefix(form: str) -> str | None:
    """The leading part of a pattern that is a whole date: `yyyy-MM-dd` for `yyyy-MM-dd HH`; else None."""
    letters = list(_PART.finditer(form))[:3]
    if form not in FORMATS or [match[1] for match in letters] != ["Y", "m", "d"]:
        return None
    return form[: letters[-1].end()]

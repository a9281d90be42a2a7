"""Date patterns, as sqlglot hands them on: Spark's letters in the words of strftime."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from dependency_model.lineage.conversion import days
from dependency_model.lineage.functions.calendar_steps import date_of

_PART = re.compile(r"%([YmdHMS]|B|b|a|j|y)(strict)?")
_PARTS: Final = {"Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d{2})", "d": r"(?P<d>\d{2})"}
_ORDER: Final = "YmdHMS"


class _Formats:
    """Every pattern of years, months, days, hours, minutes and seconds, filled up with zeros."""

    def __contains__(self, form: object) -> bool:
        return isinstance(form, str) and all(
            match[1] in _ORDER and (match[2] or match[1] == "Y") for match in _PART.finditer(form)
        )


FORMATS: Final = _Formats()


def is_ordered(form: str) -> bool:
    """Whether later moments print as greater texts: parts from the longest to the shortest, none left out."""
    letters = "".join(match[1] for match in _PART.finditer(form))
    return bool(letters) and _ORDER.startswith(letters) and not form.startswith("%%")


def printed(day: int, second: int, form: str) -> str:
    """A moment in a pattern. Raises ValueError for a pattern with other parts."""
    if form not in FORMATS or "%" in _PART.sub("", form):
        raise ValueError(form)
    found = date_of(day)
    values = {
        "Y": f"{found.year:04}",
        "m": f"{found.month:02}",
        "d": f"{found.day:02}",
        "H": f"{second // 3600:02}",
        "M": f"{second // 60 % 60:02}",
        "S": f"{second % 60:02}",
    }
    return _PART.sub(lambda match: values[match[1]], form)


def parsed(text: str, form: str) -> int:
    """The day of a text in a pattern. Raises ValueError where it does not fit, or the pattern has other parts."""
    pattern, end = "", 0
    for match in _PART.finditer(form):
        pattern += re.escape(form[end : match.start()]) + _PARTS.get(match[1], "(?!)")
        end = match.end()
    found = re.fullmatch(pattern + re.escape(form[end:]), text, re.ASCII)
    if found is None:
        raise ValueError(text)
    groups = {"m": "01", "d": "01", **found.groupdict()}
    return days(date(int(groups["Y"]), int(groups["m"]), int(groups["d"])))

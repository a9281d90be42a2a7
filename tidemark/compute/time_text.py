"""Times in the form of Spark's CAST to STRING, from numbers since 1970."""

from __future__ import annotations

from typing import Final

import numpy as np

_LAST_YEAR: Final = 9999


def time_text(micros: int) -> str:
    """A time in microseconds since 1970, in the form of Spark's CAST on UTC's clock."""
    day, _, time = str(np.datetime64(micros, "us")).partition("T")
    return f"{dated(day)} {time.rstrip('0').rstrip('.') if '.' in time else time}"


def dated(day: str) -> str:
    """Spark's form of a date: at least four digits for the year, and a sign before 0 and after 9999."""
    end = day.index("-", 1)
    year = int(day[:end])
    sign = "-" if year < 0 else "+" if year > _LAST_YEAR else ""
    return f"{sign}{abs(year):04}{day[end:]}"

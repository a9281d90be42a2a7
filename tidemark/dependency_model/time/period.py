"""The periods of business time."""

from __future__ import annotations

from enum import Enum

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import ParseError


class Period(Enum):
    """A length of business time; members are ordered from the finest to the coarsest."""

    FIVE_MINUTES = "5min"
    TEN_MINUTES = "10min"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    rank: int
    minutes: int | None

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python

    @classmethod
    def parse(cls, text: str) -> Period:
        """The period of a name: `day`, or a synonym such as `daily`.

        Raises ParseError.
        """
        period = _NAMES.get(text) if isinstance(text, str) else None
        if period is None:
            raise ParseError(
                "unknown period",
                expected=f"one of {', '.join(p.value for p in cls)}",
                found=quote_value(text),
                hint=did_you_mean(str(text), _NAMES),
            )
        return period

    @property
    def is_clock(self) -> bool:
        """Whether it is shorter than a day, so that its slices follow the clock and not dates."""
        return self.minutes is not None

    def is_finer_than(self, other: Period) -> bool:
        """Whether this period is shorter than the other."""
        return self.rank < other.rank

    def __str__(self) -> str:
        return str(self.value)


_MINUTES = {Period.FIVE_MINUTES: 5, Period.TEN_MINUTES: 10, Period.HOUR: 60}
for _rank, _period in enumerate(Period):
    _period.rank = _rank
    _period.minutes = _MINUTES.get(_period)

_NAMES: dict[str, Period] = {period.value: period for period in Period} | {
    "5 minutes": Period.FIVE_MINUTES,
    "10 minutes": Period.TEN_MINUTES,
    "hourly": Period.HOUR,
    "daily": Period.DAY,
    "weekly": Period.WEEK,
    "monthly": Period.MONTH,
    "quarterly": Period.QUARTER,
    "yearly": Period.YEAR,
}

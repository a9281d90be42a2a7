"""Times of a run in other systems, in terms of a slice.

A query runs on its entity's clock, which decides dates and texts of instants. Dates are counted from `:biz_date` if
possible.

A run of another system follows the data: the run for the slice `[start, end)` is planned at `end`. So the business
date, the day before the run, is the day before `end`, and a data interval's start is `start`. For an hour, the last
day is the day of the hour, but the business date is the day before the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from tidemark.dependency_model.lineage.foreign_sql.date_pattern import has_clock
from tidemark.dependency_model.time.period import Period

Base = Literal["business date", "run", "start", "end", "last day"]
_DAYS: Final = {Period.DAY: 1, Period.WEEK: 7}
_MONTHS: Final = {Period.MONTH: 1, Period.QUARTER: 3, Period.YEAR: 12}
_DAY_BEFORE: Final = ("business date", "last day")
_FINEST: Final = {
    Period.DAY: "dd",
    Period.WEEK: "dd",
    Period.MONTH: "MM",
    Period.QUARTER: "MM",
    Period.YEAR: "yyyy",
}
"""The unit that the text of a slice's time must show."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time moved by months, then days, then hours. `pattern` is the form of its text, "" for a value."""

    base: Base
    pattern: str = ""
    months: int = 0
    days: int = 0
    hours: int = 0

    def moved(self, months: int = 0, days: int = 0, hours: int = 0) -> Moment:
        """The same moment, later."""
        return replace(self, months=self.months + months, days=self.days + days, hours=self.hours + hours)

    def as_text(self, pattern: str) -> Moment:
        """The same moment as a text."""
        return replace(self, pattern=pattern)

    def sql(self, period: Period) -> str | None:
        """The SQL of the same value in a query of a period; None if no parameter gives it."""
        if not self.pattern:
            return _instant(self, period)
        if not has_clock(self.pattern):
            date = self.date(period)
            return f"date_format({date}, '{self.pattern}')" if date else None
        if _simplified(self, period) == Moment("start", "HH") and period.is_clock:
            return ":biz_hour"
        instant = _instant(self, period)
        return f"date_format({instant}, '{self.pattern}')" if instant else None

    def on_clock(self, period: Period) -> str | None:
        """The TIMESTAMP from which functions read date and hour on the project's clock; None if unknown."""
        return _instant(self, period)

    def date(self, period: Period) -> str | None:
        """The DATE of the moment; None if no parameter gives it."""
        moment = _simplified(self, period)
        if moment.hours:
            instant = _instant(moment, period)
            return f"to_date({instant})" if instant else None
        day, shift = _day_of(moment.base, period)
        if moment.months:
            return _days(f"add_months({_days(day, shift)}, {moment.months})", moment.days)
        return _days(day, shift + moment.days)

    def names_slice(self, period: Period) -> bool:
        """Whether a partition with this value is the slice's: a time within it, as fine as the period."""
        if self.months or self.days or self.hours or period.is_clock or self.base in ("run", "end"):
            return False
        return not self.pattern or _FINEST[period] in self.pattern


def _instant(given: Moment, period: Period) -> str | None:
    """The TIMESTAMP; None for a run's time of day, which slices do not have."""
    moment = _simplified(given, period)
    if moment.base in _DAY_BEFORE or (moment.base == "run" and not period.is_clock):
        return None
    instant = ":period_start" if moment.base == "start" else ":period_end"
    for count, unit in ((moment.months, "MONTH"), (moment.days, "DAY"), (moment.hours, "HOUR")):
        if count:
            instant += f" {'-' if count < 0 else '+'} INTERVAL {abs(count)} {unit}"
    return instant


def _day_of(base: Base, period: Period) -> tuple[str, int]:
    """The DATE from which a base is counted, and the days between them."""
    if base == "start" or (base == "last day" and period.is_clock):
        return ":biz_date", 0
    before = 1 if base in _DAY_BEFORE else 0
    if period in _DAYS:
        return ":biz_date", _DAYS[period] - before
    if period in _MONTHS:
        return f"add_months(:biz_date, {_MONTHS[period]})", -before
    return "to_date(:period_end)", -before


def _simplified(moment: Moment, period: Period) -> Moment:
    """An hour before the run of an hour is the start of that hour."""
    if period is Period.HOUR and moment.base in ("run", "end") and moment.hours == -1:
        return replace(moment, base="start", hours=0)
    return moment


def _days(date: str, count: int) -> str:
    if not count:
        return date
    return f"date_{'sub' if count < 0 else 'add'}({date}, {abs(count)})"

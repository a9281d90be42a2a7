"""Times that other systems give to a run, in the terms of a slice.

A query runs on its entity's clock: dates and texts of instants are of that clock. Dates are counted from `:biz_date`
wherever that will do.

A run of another system comes after the data: the run that computes the slice `[start, end)` is planned at `end`. So the
business date, which is the day before the run, is the day before `end`, and a data interval's start is `start`. The
last day is that of the slice itself: of an hour its own day, where the business date is the day before the run's.
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
"""What the text of a slice's time shows at least."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time moved by months, then days, then hours; `pattern` is of the text that stands for it, "" for a value."""

    base: Base
    pattern: str = ""
    months: int = 0
    days: int = 0
    hours: int = 0

    def moved(self, months: int = 0, days: int = 0, hours: int = 0) -> Moment:
        """The same, later."""
        return replace(self, months=self.months + months, days=self.days + days, hours=self.hours + hours)

    def as_text(self, pattern: str) -> Moment:
        """The same as a text."""
        return replace(self, pattern=pattern)

    def sql(self, period: Period) -> str | None:
        """What is written in a query of a period, of the same value; None where no parameter says it."""
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
        """The TIMESTAMP of which functions tell date and hour by the project's clock; None where none is known."""
        return _instant(self, period)

    def date(self, period: Period) -> str | None:
        """The DATE on which it is; None where no parameter says it."""
        moment = _simplified(self, period)
        if moment.hours:
            instant = _instant(moment, period)
            return f"to_date({instant})" if instant else None
        day, shift = _day_of(moment.base, period)
        if moment.months:
            return _days(f"add_months({_days(day, shift)}, {moment.months})", moment.days)
        return _days(day, shift + moment.days)

    def names_slice(self, period: Period) -> bool:
        """Whether a partition of this value is the slice's: a time within it, shown as finely as the period is."""
        if self.months or self.days or self.hours or period.is_clock or self.base in ("run", "end"):
            return False
        return not self.pattern or _FINEST[period] in self.pattern


def _instant(given: Moment, period: Period) -> str | None:
    """The TIMESTAMP; None where a run's time of day is asked for: no slice has one."""
    moment = _simplified(given, period)
    if moment.base in _DAY_BEFORE or (moment.base == "run" and not period.is_clock):
        return None
    instant = ":period_start" if moment.base == "start" else ":period_end"
    for count, unit in ((moment.months, "MONTH"), (moment.days, "DAY"), (moment.hours, "HOUR")):
        if count:
            instant += f" {'-' if count < 0 else '+'} INTERVAL {abs(count)} {unit}"
    return instant


def _day_of(base: Base, period: Period) -> tuple[str, int]:
    """The DATE that a base is counted from, and the days between them."""
    if base == "start" or (base == "last day" and period.is_clock):
        return ":biz_date", 0
    before = 1 if base in _DAY_BEFORE else 0
    if period in _DAYS:
        return ":biz_date", _DAYS[period] - before
    if period in _MONTHS:
        return f"add_months(:biz_date, {_MONTHS[period]})", -before
    return "to_date(:period_end)", -before


def _simplified(moment: Moment, period: Period) -> Moment:
    """An hour before the run of an hour is where the hour starts."""
    if period is Period.HOUR and moment.base in ("run", "end") and moment.hours == -1:
        return replace(moment, base="start", hours=0)
    return moment


def _days(date: str, count: int) -> str:
    if not count:
        return date
    return f"date_{'sub' if count < 0 else 'add'}({date}, {abs(count)})"

"""Workdays: dates that are neither weekend nor holiday, by a calendar of the `holidays` library.

`FR`, `FR-57` (a region), `XNYS` (a market), or `weekdays` (Monday to Friday, no holidays). Working Saturdays and other
weekends come from the library. In years that it does not know yet, only weekends are left out; a new release of the
library may change them.

Source: seed capability A3.
"""

from __future__ import annotations

from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from tidemark.errors import CalendarError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holidays import HolidayBase

WEEKDAYS: Final = "weekdays"
"""The calendar without holidays."""
_SATURDAY: Final = 5


class Workdays:
    """The workdays of one calendar, numbered in order. Days are counted since 1970-01-01."""

    def __init__(self, calendar: str) -> None:
        is_working_day = _judge(calendar)
        first, last = date(FIRST_YEAR, 1, 1).toordinal(), date(LAST_YEAR, 12, 31).toordinal()
        self._days: list[int] = []
        self._before: list[int] = []
        for ordinal in range(first, last + 1):
            self._before.append(len(self._days))
            if is_working_day(date.fromordinal(ordinal)):
                self._days.append(ordinal - EPOCH_ORDINAL)

    def before(self, day: int) -> int:
        """The number of workdays before a day, which is also the number of the first workday from that day on."""
        return self._before[day] if 0 <= day < len(self._before) else len(self._days) * (day > 0)

    def is_workday(self, day: int) -> bool:
        """Whether a day is one."""
        number = self.before(day)
        return number < len(self._days) and self._days[number] == day

    def counted(self, day: int, first: int, last: int) -> list[int]:
        """The workdays with the counts `first..last` from a day. The day itself is count 0, if it is a workday."""
        here = self.before(day)
        low = here + (first if first <= 0 else first - 1 + self.is_workday(day))
        high = here + (last if last < 0 else last - 1 + self.is_workday(day))
        return self._days[max(0, low) : max(0, high + 1)]

    def counting(self, day: int, first: int, last: int) -> tuple[int, int] | None:
        """The first and the last day from which a workday has a count in `first..last`. None if it is not a workday."""
        if not self.is_workday(day):
            return None
        number = self.before(day)
        low = self._at(number - last - 1) + 1 if last < 0 else self._at(number - last)
        high = self._at(number - first) if first <= 0 else self._at(number - first + 1) - 1
        return low, high

    def _at(self, number: int) -> int:
        return self._days[min(max(0, number), len(self._days) - 1)]

    def inside(self, first_day: int, end_day: int) -> list[int]:
        """The workdays in `[first_day, end_day)`."""
        return self._days[self.before(first_day) : self.before(end_day)]


@lru_cache(maxsize=64)
def workdays(calendar: str) -> Workdays:
    """The workdays of a calendar. Raises CalendarError for an unknown calendar."""
    return Workdays(calendar)


@cache
def known_workdays(calendar: str) -> str:
    """The name of a known calendar. Raises CalendarError with the nearest name."""
    if calendar == WEEKDAYS:
        return calendar
    import holidays  # noqa: PLC0415 (many modules, of which most projects need none)

    country, _, region = calendar.partition("-")
    countries = holidays.list_supported_countries(include_aliases=True)
    markets = holidays.list_supported_financial(include_aliases=True)
    if country in countries and (not region or region in countries[country]):
        return calendar
    if calendar in markets:
        return calendar
    names: Iterable[str] = [WEEKDAYS, *countries, *markets]
    if country in countries:
        names = [f"{country}-{subdivision}" for subdivision in countries[country]]
    raise CalendarError(
        "unknown calendar of holidays",
        expected="the code of a country (FR), a region (FR-57) or a market (XNYS), or weekdays",
        found=quote_value(calendar),
        hint=did_you_mean(calendar, [*names]),
    )


def _judge(calendar: str) -> Callable[[date], bool]:
    known_workdays(calendar)
    return _is_weekday if calendar == WEEKDAYS else _holidays(calendar).is_working_day


def _holidays(calendar: str) -> HolidayBase:
    import holidays  # noqa: PLC0415

    country, _, region = calendar.partition("-")
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    if country in holidays.list_supported_countries(include_aliases=True):
        return holidays.country_holidays(country, subdiv=region or None, years=years)
    return holidays.financial_holidays(calendar, years=years)


def _is_weekday(day: date) -> bool:
    return day.weekday() < _SATURDAY

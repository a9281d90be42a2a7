"""Which slices the oracle answers for, and when: at the instant at which each ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from tests.components.workload import clock

if TYPE_CHECKING:
    from tests.components.workload.changes import Settings

Period = Literal["hour", "day", "week", "month"]
HOURLY_DAYS = (date(2026, 3, 30), date(2026, 3, 31))
_MONDAY = 0


@dataclass(frozen=True)
class Slice:
    """A business time: named by its start (Paris local time), asked about at `end` (instant)."""

    period: Period
    start: datetime
    end: int

    @property
    def name(self) -> str:
        forms = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d", "week": "%Y-%m-%d", "month": "%Y-%m"}
        return self.start.strftime(forms[self.period])


def slices(settings: Settings) -> list[Slice]:
    """The slices that end within the played days, by their end; an hour before the day that it ends, and so on."""
    ending = [own for day in clock.days(settings.first_day, settings.days) for own in _ending_on(settings, day)]
    return sorted(ending, key=lambda own: own.end)


def _ending_on(settings: Settings, day: date) -> list[Slice]:
    end, start = clock.midnight(day + timedelta(days=1)), clock.wall(clock.midnight(day))
    hours = clock.hours(day) if day in HOURLY_DAYS else []
    ending = [Slice("hour", clock.wall(hour), hour + clock.HOUR) for hour in hours]
    ending.append(Slice("day", start, end))
    monday, first = start - timedelta(days=6), start.replace(day=1)
    if (day + timedelta(days=1)).weekday() == _MONDAY and monday.date() >= settings.first_day:
        ending.append(Slice("week", monday, end))
    if (day + timedelta(days=1)).day == 1:
        ending.append(Slice("month", first, end))
    return ending

"""The slices to compare a slice with, and special days.

For days: the 84 days before. For hours and minutes: the same time on these days. Both have a weekly rhythm. For weeks
and longer: the slices before, without a rhythm.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.profile.prediction import PAST
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.workdays import workdays
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL

if TYPE_CHECKING:
    from tidemark.dependency_model.time.local_calendar import Calendar

DAYS_OF_WEEK: Final = 7
_SATURDAY: Final = 5


class PastSlice(NamedTuple):
    """A slice by its key, `ago` steps (days, or longer periods) before the present one."""

    ago: int
    key: str


def season_of(period: Period) -> int:
    """The number of steps in a week, 1 without a weekly rhythm."""
    return DAYS_OF_WEEK if period is Period.DAY or period.is_clock else 1


def past_slices(calendar: Calendar, period: Period, key: str) -> list[PastSlice]:
    """The slices to compare with, the most recent first."""
    grid = calendar.grid(period)
    here = grid.ordinal(key)
    if not period.is_clock:
        return [PastSlice(ago, grid.key(here - ago)) for ago in range(1, PAST + 1) if here - ago >= grid.first]
    days, start = calendar.grid(Period.DAY), grid.start(here)
    today = days.at(start)
    since_midnight = start - days.start(today)
    agos = [ago for ago in range(1, PAST + 1) if today - ago >= days.first]
    return [PastSlice(ago, grid.key(grid.at(days.start(today - ago) + since_midnight))) for ago in agos]


@lru_cache(maxsize=4096)
def is_special_day(calendar: str, day: date) -> bool:
    """Whether a day or a neighbour of it is a holiday from Monday to Friday.

    Without a calendar of holidays no day is special.
    """
    return bool(calendar) and any(_is_holiday(calendar, day + timedelta(days=step)) for step in (-1, 0, 1))


def _is_holiday(calendar: str, day: date) -> bool:
    return day.weekday() < _SATURDAY and not workdays(calendar).is_workday(day.toordinal() - EPOCH_ORDINAL)

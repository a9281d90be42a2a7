"""Business time of the played company: instants in epoch seconds, wall-clock times of Europe/Paris without zone."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Paris")
MINUTE = 60
HOUR = 3600


def wall(at: int) -> datetime:
    """The wall-clock time, without zone, at an instant (epoch seconds)."""
    return datetime.fromtimestamp(at, ZONE).replace(tzinfo=None, fold=0)


def utc(at: int) -> datetime:
    """The UTC date and time, without zone, at an instant (epoch seconds)."""
    return datetime.fromtimestamp(at, ZoneInfo("UTC")).replace(tzinfo=None)


def instant(local: datetime) -> int:
    """The instant (epoch seconds) of a wall-clock time; one that the spring change skips means an hour later."""
    return int(local.replace(tzinfo=ZONE).timestamp())


def midnight(day: date) -> int:
    """The instant at which a day begins."""
    return instant(datetime(day.year, day.month, day.day))  # noqa: DTZ001 - a wall-clock time


def at_hour(day: date, hour: int, minute: int = 0, second: int = 0) -> int:
    """The instant of a wall-clock time on a day."""
    return instant(datetime(day.year, day.month, day.day, hour, minute, second))  # noqa: DTZ001 - a wall-clock time


def days(first: date, count: int) -> list[date]:
    """`count` days from the first on."""
    return [first + timedelta(days=offset) for offset in range(count)]


def hours(day: date) -> list[int]:
    """The instants at which the hours of a day begin: 24, 23 on the spring change, 25 on the autumn change."""
    return list(range(midnight(day), midnight(day + timedelta(days=1)), HOUR))

"""The range of time that a slice covers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


@dataclass(frozen=True, slots=True)
class Window:
    """`[start, end)`: two aware instants in UTC."""

    start: datetime
    end: datetime

    @classmethod
    def of_seconds(cls, start: int, end: int) -> Window:
        """The window between two numbers of seconds since 1970-01-01T00:00Z."""
        return cls(_EPOCH + timedelta(seconds=start), _EPOCH + timedelta(seconds=end))

    @property
    def duration(self) -> timedelta:
        """The real duration: a spring day in Paris lasts 23 hours."""
        return self.end - self.start

    def __contains__(self, instant: object) -> bool:
        return isinstance(instant, datetime) and self.start <= instant < self.end

    def overlaps(self, other: Window) -> bool:
        """Whether the two share an instant."""
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"[{self.start:%Y-%m-%dT%H:%M:%SZ}, {self.end:%Y-%m-%dT%H:%M:%SZ})"


def seconds_of(instant: datetime) -> int:
    """Whole seconds since 1970-01-01T00:00Z of an aware instant, rounded down."""
    return (instant - _EPOCH) // timedelta(seconds=1)


def nearest_instant(microseconds: int) -> datetime:
    """The instant (UTC) at these microseconds since 1970-01-01T00:00Z, or the nearest one of Python's calendar.

    Spark and other systems have earlier and later times.
    """
    return _EPOCH + min(max(microseconds, _FIRST), _LAST) * _MICROSECOND

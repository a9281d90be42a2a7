"""Whether a source's own watermark has reached a slice's end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from tidemark.crawl.errors import ProbeError

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbedSlice
    from tidemark.dependency_model.arrival.sighting import Sight


AHEAD: Final = timedelta(minutes=5)
"""A watermark further ahead of our clock is not believed: one wrong row would complete every slice to come."""


def by_watermark(seen: Sight, column: str, watermark: object, probed: ProbedSlice, now: datetime) -> Sight:
    """The sight, and not there as long as the watermark lies before the window's end. Raises ProbeError.

    A time without a zone is UTC; a date counts from when it begins on the slice's clock.
    """
    if watermark is None:
        return replace(seen, is_there=False, why=f"nothing has a {column} yet")
    instant = instant_of(watermark, probed.time_zone)
    if instant > now + AHEAD:
        raise ProbeError(f"{column} is ahead of our clock", expected=f"at most {now + AHEAD}", found=str(instant))
    seen = replace(seen, watermark=instant.isoformat())
    if probed.window is not None and instant < probed.window.end:
        return replace(seen, is_there=False, why=f"{seen.why}; the newest {column} is {instant.isoformat()}")
    return seen


def instant_of(value: object, time_zone: str) -> datetime:
    """A time of a source: without a zone it is UTC, and a date begins on the clock given. Raises ProbeError."""
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=ZoneInfo(time_zone))
    raise ProbeError("what should be a time is none", found=type(value).__name__)


def _read(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ProbeError("what should be a time is none", found=text[:100]) from error

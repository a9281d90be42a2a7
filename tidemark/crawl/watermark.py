"""Whether a source's own watermark has reached a slice's end."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.time.window import nearest_instant
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbedSlice
    from tidemark.dependency_model.arrival.sighting import Sight

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock
AHEAD: Final = timedelta(minutes=5)
"""A watermark further ahead of our clock is not trusted: one wrong row would complete every future slice."""


def by_watermark(
    seen: Sight, column: str, watermark: object, probed: ProbedSlice, now: datetime, wall_clock: str = "UTC"
) -> Sight:
    """The result, not there while the watermark is before the window's end. Raises ProbeError.

    A time without a zone is in the zone `wall_clock`; a date begins on the slice's clock.
    """
    if watermark is None:
        return replace(seen, is_there=False, why=f"no row has a value in {column} yet")
    instant = instant_of(watermark, probed.time_zone, wall_clock)
    if instant > now + AHEAD:
        raise ProbeError(
            f"{column} is later than this machine's clock", expected=f"at most {now + AHEAD}", found=str(instant)
        )
    seen = replace(seen, watermark=instant.isoformat())
    if probed.window is not None and instant < probed.window.end:
        return replace(seen, is_there=False, why=f"{seen.why}; the newest {column} is {instant.isoformat()}")
    return seen


def instant_of(value: object, time_zone: str, wall_clock: str = "UTC") -> datetime:
    """A time of a source: without a zone it is in `wall_clock`, and a date begins on the slice's clock.

    Raises ProbeError.
    """
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, datetime):
        return value if value.tzinfo else instant_on(Zone.load(wall_clock), value)
    if isinstance(value, date):
        return instant_on(Zone.load(time_zone), datetime(value.year, value.month, value.day))  # noqa: DTZ001 - a wall clock
    raise ProbeError("the value is not a time", found=type(value).__name__)


def instant_on(zone: Zone, local: datetime) -> datetime:
    """The first instant at which a zone's clock shows this time; for a skipped time as in Java:

    as long after the gap began.
    """
    shown = (local - _EPOCH) // timedelta(microseconds=1)
    seconds, micros = divmod(shown, 1_000_000)
    return nearest_instant((seconds - zone.offset_before(seconds)) * 1_000_000 + micros)


def _read(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ProbeError("the value is not a time", found=text[:100]) from error

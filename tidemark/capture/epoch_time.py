"""Conversion of epoch milliseconds, as in change records and commits, to instants."""

from datetime import UTC, datetime


def utc(epoch_ms: int) -> datetime:
    """The instant of milliseconds since 1970, in UTC."""
    return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)

"""Instants and the milliseconds since 1970 that records and commits have of them."""

from datetime import UTC, datetime


def utc(epoch_ms: int) -> datetime:
    """An instant from milliseconds since 1970."""
    return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)

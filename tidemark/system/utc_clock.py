"""The wall's clock."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The present instant, in UTC."""
    return datetime.now(UTC)

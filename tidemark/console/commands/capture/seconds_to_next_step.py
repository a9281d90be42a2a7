"""When `tidemark capture run` looks again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

SOON_SECONDS: Final = 10.0
"""Between two looks while a slice that has ended waits for its name."""


def seconds_to_next(ends: Iterable[datetime], now: datetime, every_seconds: float) -> float:
    """Seconds until the next pass; `ends` are those of the slices that wait for their names.

    The usual interval, less where a slice ends within it, and little where one has ended: its last records arrive now.
    """
    left = min(((end - now).total_seconds() for end in ends), default=every_seconds)
    return min(every_seconds, SOON_SECONDS if left <= 0 else left)

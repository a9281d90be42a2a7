"""The time of the next pass of `tidemark capture run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

SOON_SECONDS: Final = 10.0
"""Time between two passes while a slice that has ended waits for its tag."""


def seconds_to_next(ends: Iterable[datetime], now: datetime, every_seconds: float) -> float:
    """Seconds until the next pass; `ends` are the ends of slices that wait for their tags.

    The usual interval; less if a slice ends within it, and short if one has ended, because its last records arrive now.
    """
    left = min(((end - now).total_seconds() for end in ends), default=every_seconds)
    return min(every_seconds, SOON_SECONDS if left <= 0 else left)

"""The position in a log whose records become visible out of order.

PostgreSQL numbers a record at its insert and shows it at the commit: a later number may be visible first. A reader that
continued after the greatest visible number would miss the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT_SECONDS: Final = 10.0
"""The longest time between a record's number and its commit."""
OLD_SECONDS: Final = 600.0
"""Older records are history and need not be remembered."""


class Tail:
    """No new records appear up to `safe_cursor`. The log remembers the numbers that it has seen above it.

    `monotonic` gives the time of the first sight, `now` (epoch seconds) the age of a record.
    """

    def __init__(self, safe_cursor: int, monotonic: Callable[[], float], now: Callable[[], float]) -> None:
        self.safe_cursor = safe_cursor
        self._monotonic, self._now = monotonic, now
        self._seen: dict[int, float] = {}

    @property
    def last(self) -> int:
        """The greatest number seen."""
        return max(self._seen, default=self.safe_cursor)

    def is_new(self, number: int) -> bool:
        return number > self.safe_cursor and number not in self._seen

    def take(self, number: int, timestamp: float) -> None:
        """A record was read that was written at `timestamp` (epoch seconds, by the writer's clock)."""
        is_old = self._now() - timestamp > OLD_SECONDS
        self._seen[number] = self._monotonic() - (COMMIT_SECONDS if is_old else 0.0)

    def advance(self, looked_at: float) -> None:
        """Everything above `safe_cursor` was read again: nothing can appear before records seen long ago."""
        long_ago = looked_at - COMMIT_SECONDS
        due = [number for number, seen_at in self._seen.items() if seen_at <= long_ago]
        self.safe_cursor = max(due, default=self.safe_cursor)
        self._seen = {number: at for number, at in self._seen.items() if number > self.safe_cursor}

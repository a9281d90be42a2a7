"""Where a reader is in a log whose records do not become visible in the order of their numbers.

PostgreSQL numbers a record when it is inserted and shows it when it is committed: of two writers the later number may
be seen first. A reader that went on behind the greatest number it has seen would never see the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT_SECONDS: Final = 10.0
"""So long a writer may take from a record's number to its commit."""
OLD_SECONDS: Final = 600.0
"""Records of so long ago are history: what is read of it at once need not be remembered."""


class Tail:
    """Up to `safe_cursor` nothing more will appear; above it the numbers that were seen are remembered.

    `monotonic` tells when a record was first seen, `now` (epoch seconds) how old it is.
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
        """A record was taken in that was written at `timestamp` (epoch seconds, by the writer's clock)."""
        is_old = self._now() - timestamp > OLD_SECONDS
        self._seen[number] = self._monotonic() - (COMMIT_SECONDS if is_old else 0.0)

    def advance(self, looked_at: float) -> None:
        """All above `safe_cursor` was looked at again then: what precedes a record seen long ago was there."""
        long_ago = looked_at - COMMIT_SECONDS
        due = [number for number, seen_at in self._seen.items() if seen_at <= long_ago]
        self.safe_cursor = max(due, default=self.safe_cursor)
        self._seen = {number: at for number, at in self._seen.items() if number > self.safe_cursor}

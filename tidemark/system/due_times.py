"""Repeated work by name: when each item is due again, on the monotonic clock."""

from __future__ import annotations

import time


class DueTimes:
    """Due times by name. At first every item is due."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}

    def has_come(self, what: str, seconds: float) -> bool:
        """Whether an item is due. If so, it is due again after `seconds`."""
        if time.monotonic() < self._due.get(what, 0.0):
            return False
        self.put_off(what, seconds)
        return True

    def put_off(self, what: str, seconds: float) -> None:
        """Make an item due `seconds` from now."""
        self._due[what] = time.monotonic() + seconds

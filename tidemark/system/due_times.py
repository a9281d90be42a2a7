"""What is done again after a time: each thing by its name, by the machine's steady clock."""

from __future__ import annotations

import time


class DueTimes:
    """Everything is due at first."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}

    def has_come(self, what: str, seconds: float) -> bool:
        """Whether it is due; then it is due again after so many seconds."""
        if time.monotonic() < self._due.get(what, 0.0):
            return False
        self.put_off(what, seconds)
        return True

    def put_off(self, what: str, seconds: float) -> None:
        """It is due after so many seconds from now."""
        self._due[what] = time.monotonic() + seconds

"""The health of the center: one answer for `/health`, `tidemark health`, `tidemark status`, the console and Prometheus.

Each condition must be observed repeatedly. A condition that was not observed for a minute is a trouble, whether it
failed, hangs, or was never true.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.state_store.database import Database

PATIENCE_SECONDS: Final = 60.0


class HealthCondition(Enum):
    """A condition; its value is the message if it is not true."""

    LED = "no center is known to hold the lease"
    TICKS = "no tick has succeeded"
    WORKERS = "no host of warm workers can start a run"


class HealthWatch:
    """Conditions with the time of their last observation, or of their start."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[HealthCondition, float] = {HealthCondition.LED: clock()}

    def begin(self, *conditions: HealthCondition) -> None:
        """Require these conditions, each within a minute."""
        self._seen.update(dict.fromkeys(conditions, self._clock()))

    def end(self, *conditions: HealthCondition) -> None:
        """Stop requiring these conditions."""
        for condition in conditions:
            self._seen.pop(condition, None)

    def saw(self, condition: HealthCondition, *, holds: bool) -> None:
        """Note an observed condition."""
        if holds and condition in self._seen:
            self._seen[condition] = self._clock()

    def seconds(self, condition: HealthCondition) -> float:
        """Seconds since the last observation; 0 if it is not required."""
        return self._clock() - self._seen.get(condition, self._clock())

    def troubles(self) -> list[str]:
        """Conditions that were false for longer than a minute, as sentences without a full stop."""
        ages = {condition: self.seconds(condition) for condition in list(self._seen)}
        return [f"{what.value} for {age:.0f} s" for what, age in ages.items() if age > PATIENCE_SECONDS]


class StoredHealth:
    """The troubles of the active center in the state store, for `tidemark status` and pages of other processes."""

    _NAME: Final = "center"
    _EVERY_SECONDS: Final = 30.0

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._notes, self._clock = Notes(database, "center trouble"), clock
        self._stored: str | None = None
        self._stored_at = 0.0

    def put(self, troubles: list[str]) -> None:
        """Store the troubles if some begin or end, and every 30 seconds while they last. Raises StateStoreDownError."""
        text = "; ".join(troubles)
        is_changed = self._stored is None or bool(text) != bool(self._stored)
        if not is_changed and (not text or self._clock() - self._stored_at < self._EVERY_SECONDS):
            return
        if text:
            self._notes.put({self._NAME: text})
        else:
            self._notes.remove(self._NAME)
        self._stored, self._stored_at = text, self._clock()

    def get(self) -> str:
        """The troubles that the active center stored last; empty without any. Raises StateStoreDownError."""
        return self._notes.get(self._NAME) or ""

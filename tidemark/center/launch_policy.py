"""Limits of shared runs and retries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.state_store.transition import FailureCount


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """`attempts` for a slice's generation before its retries are exhausted; `wait` after a failure.

    A run has up to `together` consecutive slices. If pools are full, it has up to `across` entities at the same times.
    Backfills use at most `backfill_share` of a pool's slots, but at least one.
    """

    attempts: int = 2
    wait: timedelta = timedelta(minutes=5)
    together: int = 31
    across: int = 1
    backfill_share: float = 0.5

    def tried_again_at(self, failures: FailureCount) -> datetime | None:
        """When a slice is retried (UTC); None if a user must request it."""
        if failures.is_held or failures.times >= self.attempts:
            return None
        return failures.record_time + self.wait

"""How runs share slices, and when a slice that failed is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.state_store.transition import FailureCount


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """`attempts` of a slice's generation before its retries are exhausted; `wait` after a failure.

    A run holds up to `together` slices that follow each other.
    Where more is ready than there is room for, it also holds up to `across` entities at the same times.
    Backfills have at most `backfill_share` of a pool's slots, one at least.
    """

    attempts: int = 2
    wait: timedelta = timedelta(minutes=5)
    together: int = 31
    across: int = 1
    backfill_share: float = 0.5

    def tried_again_at(self, failures: FailureCount) -> datetime | None:
        """When a slice is tried again (UTC); None where somebody has to ask for it."""
        if failures.is_held or failures.times >= self.attempts:
            return None
        return failures.record_time + self.wait

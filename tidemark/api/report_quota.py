"""Limits on what reports store: by caller, and by slice.

A report of 64 kB may stand for a thousand slices, and each stores its own copy. So a report costs what it stores: its
caller pays from the same token bucket as for writes, and each slice has a bucket of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from tidemark.api.errors import ReportQuotaError
from tidemark.api.request_limits import DEFAULT_WRITES_PER_SECOND, WRITE_BYTES, TokenBuckets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.center.fact import Fact
    from tidemark.system.caller import Caller

SLICE_WRITES_PER_SECOND: Final = 0.2
SLICE_WRITES_AT_ONCE: Final = 1_000.0


class ReportQuota:
    """The quotas of one server; `callers` is the bucket of its writes, `clock` is monotonic."""

    def __init__(self, callers: TokenBuckets | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.callers = callers or TokenBuckets(DEFAULT_WRITES_PER_SECOND, clock)
        self.slices = TokenBuckets(SLICE_WRITES_PER_SECOND, clock, SLICE_WRITES_AT_ONCE)

    def take(self, caller: Caller, facts: Sequence[Fact]) -> None:
        """Pay for the facts. Raises ReportQuotaError."""
        sizes = {id(fact.data): len(repr(fact.data)) // WRITE_BYTES for fact in facts}
        costs = Counter[str]()
        for fact in facts:
            costs[str(fact.slice)] += 1 + sizes[id(fact.data)]
        # Its request has paid for its own size already.
        stored = sum(sizes[id(fact.data)] for fact in facts) - sum(sizes.values())
        if stored and not self.callers.take(caller.limited_by, stored):
            raise ReportQuotaError.of(caller.who, "fewer or shorter reports in a second from one caller")
        for slice_, cost in costs.items():
            if not self.slices.take(slice_, cost):
                raise ReportQuotaError.of(
                    slice_,
                    f"at most {SLICE_WRITES_AT_ONCE:,.0f} reports of one slice at once, and one every "
                    f"{1 / SLICE_WRITES_PER_SECOND:.0f} s, each 4 kB counting as one",
                )

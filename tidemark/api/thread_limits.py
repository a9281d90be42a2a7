"""Threads for what the HTTP interface does: whoever asks much does not keep health checks and reports waiting."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.api.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_REPORTS: Final = 40
_QUERIES: Final = 4
_WATCHING: Final = 2
_PLANS: Final = 1
"""A plan of twenty thousand slices takes seconds of the processor that decisions need, too."""
_WAITING: Final = {"reports": 1_000, "queries": 32, "plans": 4, "watching": 1_000}


class BoundedPool:
    """Threads for calls of one kind; of those that wait there are so many, and no more."""

    def __init__(self, kind: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, f"api-{kind}")
        self._kind, self._most, self._asked = kind, threads + _WAITING[kind], 0

    async def run(self, call: Callable[[], T]) -> T:
        """Raises BusyError where too many wait already."""
        if self._asked >= self._most:
            raise BusyError.of(self._kind, self._asked)
        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, call)
        finally:
            self._asked -= 1

    def close(self) -> None:
        """What has not begun does not begin any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Threads:
    """Pools: `reports`, which share commits, `queries` and `plans`, which take processor time, and `watching`."""

    def __init__(self) -> None:
        self.reports = BoundedPool("reports", _REPORTS)
        self.queries = BoundedPool("queries", _QUERIES)
        self.plans = BoundedPool("plans", _PLANS)
        self.watching = BoundedPool("watching", _WATCHING)

    def close(self) -> None:
        for pool in (self.reports, self.queries, self.plans, self.watching):
            pool.close()


async def run_in(pool: BoundedPool, call: Callable[[], T]) -> T:
    """The result of a call in a pool's thread. Raises BusyError."""
    return await pool.run(call)

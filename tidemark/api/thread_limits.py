"""Threads for what the HTTP interface does: whoever asks much does not keep health checks and reports waiting."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_REPORTS: Final = 40
_QUERIES: Final = 4
_WATCHING: Final = 2


class Threads:
    """Three pools: `reports`, which share commits, `queries`, which take processor time, and `watching`."""

    def __init__(self) -> None:
        self.reports = ThreadPoolExecutor(_REPORTS, "api-reports")
        self.queries = ThreadPoolExecutor(_QUERIES, "api-queries")
        self.watching = ThreadPoolExecutor(_WATCHING, "api-watching")

    def close(self) -> None:
        """What has not begun does not begin any more."""
        for pool in (self.reports, self.queries, self.watching):
            pool.shutdown(wait=False, cancel_futures=True)


async def run_in(pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    """The result of a call in a pool's thread."""
    return await asyncio.get_running_loop().run_in_executor(pool, call)

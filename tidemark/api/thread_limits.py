"""Threads of the HTTP interface: many questions do not delay health checks and reports."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.api.errors import BudgetSpentError, BusyError, CallerGoneError, TookTooLongError
from tidemark.system.http_guard import caller_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

T = TypeVar("T")

_REPORTS: Final = 40
_QUERIES: Final = 4
_WATCHING: Final = 2
_PLANS: Final = 1
"""A plan of twenty thousand slices takes seconds of the processor that decisions need, too."""
_PLAN_SECONDS: Final = 30.0
_BUDGET_SECONDS: Final = 5.0
_BUDGET_SHARE: Final = 0.05
_MOST_CALLERS: Final = 10_000
_WAITING: Final = {"reports": 1_000, "queries": 32, "plans": 4, "watching": 1_000}


class BoundedPool:
    """Threads for calls of one kind, with a limit of waiting calls."""

    def __init__(self, kind: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, f"api-{kind}")
        self._kind, self._most, self._asked = kind, threads + _WAITING[kind], 0

    async def run(self, call: Callable[[], T]) -> T:
        """Raises BusyError if too many calls wait."""
        if self._asked >= self._most:
            raise BusyError.of(self._kind, self._asked)
        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, call)
        finally:
            self._asked -= 1

    def close(self) -> None:
        """Cancel calls that have not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class ProcessorBudget:
    """Processor time for the plans of each caller: some seconds at once, and a share. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def require(self, caller: str) -> None:
        """Raises BudgetSpentError if the caller has no time left."""
        left = self._left_of(caller)
        if left <= 0:
            raise BudgetSpentError.of(-left / _BUDGET_SHARE)

    def spend(self, caller: str, seconds: float) -> None:
        """Subtract the processor time of a plan."""
        self._left[caller] = self._left_of(caller) - seconds, self._clock()
        self._left.move_to_end(caller)
        if len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)

    def _left_of(self, caller: str) -> float:
        left, at = self._left.get(caller, (_BUDGET_SECONDS, self._clock()))
        return min(_BUDGET_SECONDS, left + (self._clock() - at) * _BUDGET_SHARE)


class Threads:
    """Pools: `reports`, which share commits, `queries` and `plans`, which take processor time, and `watching`."""

    def __init__(self) -> None:
        self.reports = BoundedPool("reports", _REPORTS)
        self.queries = BoundedPool("queries", _QUERIES)
        self.plans = BoundedPool("plans", _PLANS)
        self.watching = BoundedPool("watching", _WATCHING)
        self.plan_budget = ProcessorBudget()

    def close(self) -> None:
        for pool in (self.reports, self.queries, self.plans, self.watching):
            pool.close()


async def run_in(pool: BoundedPool, call: Callable[[], T]) -> T:
    """The result of a call in a pool's thread. Raises BusyError."""
    return await pool.run(call)


async def plan_while_wanted(threads: Threads, request: Request, call: Callable[[Callable[[], None]], T]) -> T:
    """The result of a plan, which stops if its caller hangs up or if it takes too long.

    `call` gets a function that then raises CallerGoneError or TookTooLongError. The body of `request` was read. The
    caller's budget pays for the processor time. Raises BusyError, and BudgetSpentError if no budget is left.
    """
    interest, caller = _Interest(), caller_of(request.scope).limited_by
    threads.plan_budget.require(caller)

    def plan() -> T:
        threads.plan_budget.require(caller)
        begun = time.thread_time()
        try:
            return call(interest.require)
        finally:
            threads.plan_budget.spend(caller, time.thread_time() - begun)

    answer = asyncio.ensure_future(threads.plans.run(plan))
    hung_up = asyncio.ensure_future(_hung_up(request))
    await asyncio.wait({answer, hung_up}, return_when=asyncio.FIRST_COMPLETED)
    if not answer.done():
        interest.gone.set()
    hung_up.cancel()
    return await answer


class _Interest:
    """Whether the caller still waits. The time limit begins when a thread begins the plan."""

    def __init__(self) -> None:
        self.gone = Event()
        self._until: float | None = None

    def require(self) -> None:
        now = time.monotonic()
        self._until = self._until or now + _PLAN_SECONDS
        if self.gone.is_set():
            raise CallerGoneError("the caller closed the connection")
        if now > self._until:
            raise TookTooLongError(
                "the plan took too long", expected=f"{_PLAN_SECONDS:g} s", hint="ask for fewer slices"
            )


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

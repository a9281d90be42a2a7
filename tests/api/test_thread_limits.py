"""Few questions that cost the processor wait, others are refused; reports and health have places of their own."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request

from tidemark.api import thread_limits
from tidemark.api.errors import BudgetSpentError, BusyError, CallerGoneError, TookTooLongError
from tidemark.api.thread_limits import ProcessorBudget, Threads, plan_while_wanted, run_in
from tidemark.system.caller import Caller
from tidemark.system.http_guard import CALLER

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_flood_of_plans_is_refused_and_other_callers_do_not_wait() -> None:
    asyncio.run(_flood())


async def _flood() -> None:
    threads, go_on = Threads(), Event()
    plans = [asyncio.create_task(run_in(threads.plans, go_on.wait)) for _ in range(50)]
    await asyncio.sleep(0)
    refused = [plan for plan in plans if plan.done()]
    assert len(refused) == 45
    with pytest.raises(BusyError, match="too many plans are waiting"):
        refused[0].result()
    for pool in (threads.queries, threads.reports, threads.watching):
        assert await run_in(pool, lambda: 1) == 1
    go_on.set()
    assert all([await plan for plan in plans if plan not in refused])
    assert await run_in(threads.plans, lambda: 2) == 2
    threads.close()


class Asking:
    """A request whose body was read, and a caller who hangs up when the test says so."""

    def __init__(self) -> None:
        self.hangs_up = asyncio.Event()
        scope = {"type": "http", "headers": [], CALLER: Caller("token", "ann", "")}
        self.request = Request(scope, self._receive)

    async def _receive(self) -> dict[str, Any]:
        await self.hangs_up.wait()
        return {"type": "http.disconnect"}


def test_a_plan_ends_when_its_caller_leaves_and_waiting_plans_never_begin() -> None:
    asyncio.run(_hang_up())


async def _hang_up() -> None:
    threads, begun, has_begun = Threads(), list[str](), Event()

    def plan(name: str) -> Callable[[Callable[[], None]], None]:
        def work(require_wanted: Callable[[], None]) -> None:
            require_wanted()
            begun.append(name)
            has_begun.set()
            while True:
                require_wanted()

        return work

    callers = [Asking() for _ in range(4)]
    plans = [
        asyncio.create_task(plan_while_wanted(threads, caller.request, plan(f"plan {number}")))
        for number, caller in enumerate(callers)
    ]
    await asyncio.to_thread(has_begun.wait)
    for caller in reversed(callers):
        caller.hangs_up.set()
    ended = await asyncio.gather(*plans, return_exceptions=True)
    assert [type(error) for error in ended] == [CallerGoneError] * 4
    assert begun == ["plan 0"]
    assert await plan_while_wanted(threads, Asking().request, lambda _: 3) == 3
    threads.close()


def test_a_plan_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_limits, "_PLAN_SECONDS", 0.0)

    def work(require_wanted: Callable[[], None]) -> None:
        while True:
            require_wanted()

    async def ask() -> None:
        threads = Threads()
        with pytest.raises(TookTooLongError, match="the plan took too long"):
            await plan_while_wanted(threads, Asking().request, work)
        threads.close()

    asyncio.run(ask())


def test_a_caller_whose_plans_took_seconds_waits_and_others_do_not() -> None:
    now = [0.0]
    budget = ProcessorBudget(lambda: now[0])
    budget.require("ann")
    budget.spend("ann", 4.0)
    budget.require("ann")
    budget.spend("ann", 2.0)
    with pytest.raises(BudgetSpentError, match="again in 20 s"):
        budget.require("ann")
    budget.require("bob")
    now[0] = 19.0
    with pytest.raises(BudgetSpentError):
        budget.require("ann")
    now[0] = 21.0
    budget.require("ann")
    now[0] = 1e9
    budget.spend("ann", 5.0)
    with pytest.raises(BudgetSpentError):
        budget.require("ann")


def test_the_time_of_a_plan_counts_for_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        threads = Threads()
        spent = list[float]()
        monkeypatch.setattr(threads.plan_budget, "spend", lambda _, seconds: spent.append(seconds))
        await plan_while_wanted(threads, Asking().request, lambda _: sum(range(100_000)))
        threads.close()
        assert spent[0] > 0

    asyncio.run(ask())

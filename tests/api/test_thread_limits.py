"""Few questions that cost the processor wait, others are refused; reports and health have places of their own."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from tidemark.api.errors import BusyError
from tidemark.api.thread_limits import Threads, run_in


def test_a_flood_of_plans_is_refused_and_keeps_nobody_else_waiting() -> None:
    asyncio.run(_flood())


async def _flood() -> None:
    threads, go_on = Threads(), Event()
    plans = [asyncio.create_task(run_in(threads.plans, go_on.wait)) for _ in range(50)]
    await asyncio.sleep(0)
    refused = [plan for plan in plans if plan.done()]
    assert len(refused) == 45
    with pytest.raises(BusyError, match="too many plans wait already"):
        refused[0].result()
    for pool in (threads.queries, threads.reports, threads.watching):
        assert await run_in(pool, lambda: 1) == 1
    go_on.set()
    assert all([await plan for plan in plans if plan not in refused])
    assert await run_in(threads.plans, lambda: 2) == 2
    threads.close()

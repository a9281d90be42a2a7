"""The endpoints of backfills. Planning takes processor time; actions on a backfill do not wait for a plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Path as PathNumber
from fastapi import Query, Request

from tidemark.api.backfill_models import (  # noqa: TC001 - FastAPI reads annotations
    BackfillPageModel,
    BackfillsModel,
    DecidedModel,
    PhaseModel,
    PlannedBackfillModel,
)
from tidemark.api.backfill_order import BackfillDecision, BackfillOrder
from tidemark.api.thread_limits import plan_while_wanted, run_in
from tidemark.dependency_model.backfill.progress import BackfillAction
from tidemark.system.http_guard import caller_of

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

    from tidemark.api.backfill_queries import BackfillQueries
    from tidemark.api.thread_limits import Threads

BACKFILLS: Final = "/v1/backfills"
_MOST_SHOWN: Final = 20_000
_SHOWN: Final = 1_000
_Number = Annotated[int, PathNumber(ge=1, lt=1 << 31)]


def _body(kind: type[BaseModel]) -> dict[str, Any]:
    content = {"application/json": {"schema": kind.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def add_backfills(app: FastAPI, queries: BackfillQueries, threads: Threads) -> None:
    """Serves `/v1/backfills` and the paths below it."""

    @app.get(BACKFILLS)
    async def backfills() -> BackfillsModel:
        """Return the progress of the newest backfills."""
        return await run_in(threads.queries, queries.newest)

    @app.post(BACKFILLS, openapi_extra=_body(BackfillOrder))
    async def plan_backfill(request: Request) -> PlannedBackfillModel:
        """Plan to compute slices again, and exactly what was built from them; in a dry run, only return the plan."""
        plan = partial(queries.plan, await request.body(), caller_of(request.scope))
        return await plan_while_wanted(threads, request, plan)

    @app.get(f"{BACKFILLS}/{{number}}")
    async def backfill(
        number: _Number,
        limit: Annotated[int, Query(ge=1, le=_MOST_SHOWN)] = _SHOWN,
        skip: Annotated[int, Query(ge=0, lt=1 << 31)] = 0,
    ) -> BackfillPageModel:
        """Return the progress of a backfill, with `limit` of its slices after `skip`, in the order of its waves."""
        return await run_in(threads.queries, partial(queries.page, number, skip, limit))

    @app.post(f"{BACKFILLS}/{{number}}/decide", openapi_extra=_body(BackfillDecision))
    async def decide(request: Request, number: _Number) -> DecidedModel:
        """Rebuild or keep slices with the policy `ask` whose input has changed."""
        body = await request.body()
        return await run_in(threads.reports, partial(queries.decide, number, body, caller_of(request.scope)))

    for action in BackfillAction:
        _add_action(app, queries, threads, action)


def _add_action(app: FastAPI, queries: BackfillQueries, threads: Threads, action: BackfillAction) -> None:
    name = action.name.lower()

    @app.post(f"{BACKFILLS}/{{number}}/{name}", name=f"{name} backfill", description=_DESCRIPTIONS[action])
    async def act(request: Request, number: _Number) -> PhaseModel:
        return await run_in(threads.reports, partial(queries.act, number, action, caller_of(request.scope)))


_DESCRIPTIONS: Final = {
    BackfillAction.APPROVE: "Let a planned backfill begin.",
    BackfillAction.PAUSE: "Let a backfill rest: runs under way end, no further slice of it begins.",
    BackfillAction.RESUME: "Let a paused backfill go on where it was.",
    BackfillAction.CANCEL: "End a backfill: slices that have not begun are again what they were.",
}

"""The HTTP interface, an application of FastAPI behind limits and a guard.

    POST /v1/reports             one report or a list: all are taken, or none.
    POST /v1/counts              counts of records of the source and of the lake: all are taken, or none.
    GET  /v1/slices?subject=...  each slice of a subject: its status, its upstream slices and theirs, what it waits for.
    GET  /v1/slices?as_of=...    the same at a past time: the status then, and the slices it had been computed from.
    GET  /v1/impact?subject=...  the slices downstream of a subject's slices, and what each needs.
    GET  /v1/backfills           the newest backfills, with the number of slices by progress.
    POST /v1/backfills           plan to compute slices again, and exactly what was built from them; or a dry run.
    GET  /v1/backfills/NUMBER    a backfill with its slices, their progress and the reasons; ?limit=, ?skip=.
    POST /v1/backfills/NUMBER/approve, /pause, /resume, /cancel, /decide.
    GET  /v1/catalog             the present data of each entity: slices, rows, size, schema, last reader.
    GET  /v1/catalog/ENTITY      the same for one entity, with schemas and newest slices; ?limit=, ?before=KEY, ?as_of=.
    GET  /v1/baseline            when promised slices will be there, and what makes them late.
    GET  /v1/baseline/ENTITY     the same for one entity.
    GET  /v1/audit-log           actions with their author, address, time and reason; ?limit=, ?before=NUMBER, ?who=.
    GET  /v1/graph               the dependencies between entities; ?entity=, ?up=, ?down=, ?to=, ?tag=, ?layer=.
    GET  /v1/graph/picture       the whole graph as columns of numbers, with a place for each entity; ?as_of=.
    GET  /v1/graph/states?at=    the state of each entity of the picture on a day; ?as_of=.
    GET  /v1/explanation?slice=  everything about one slice: the cause of its wait, its history, its rules, its inputs.
    GET  /v1/status              problems that need a person, worst first, and the status of every entity.
    GET  /v1/changes             changes of slices as they happen: server-sent events, resumed by Last-Event-ID.
    POST /v1/session             begin a browser session for the bearer of a token; GET reads it, DELETE ends it.
    GET  /console/               the console: pages for people.
    GET  /health                 200 while it works or stands by, 503 when it is stuck; needs no token.
    GET  /metrics                metrics in Prometheus' text format.
    GET  /openapi.json, /docs    the description of this interface.

    200 done.  400 invalid request.  401 no token or a wrong one.  403 another host or origin, or a missing scope.
    404 unknown entity or backfill.  409 not allowed now (by the table of transitions, or by a backfill's phase).
    411 a body of unknown length.  413 too long.  415 not JSON.  429 too many writes.  431 headers too long.
    503 the store does not answer in time, or another center is active: retry with a new connection.

An error's body is {"error": {"message", "expected", "found", "where", "hint", "code"}}. An error changes nothing.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import FastAPI, Query, Request, Response
from fastapi import Path as PathText
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tidemark.api.access import Access, KnownTokens
from tidemark.api.audit_models import AuditLogModel, audit_log_model
from tidemark.api.backfill_endpoints import BACKFILLS, add_backfills
from tidemark.api.backfill_queries import BackfillQueries
from tidemark.api.baseline_models import BaselinesModel  # noqa: TC001 - FastAPI reads annotations
from tidemark.api.catalog_models import CatalogModel, CatalogPageModel  # noqa: TC001 - FastAPI reads annotations
from tidemark.api.center_queries import Queries
from tidemark.api.console_pages import CONSOLE, add_console, console_files
from tidemark.api.console_session import SESSION, SessionDoor, Sessions, add_session
from tidemark.api.description_page import add_description
from tidemark.api.errors import BudgetSpentError, ReportQuotaError
from tidemark.api.graph_endpoints import GRAPH, PICTURE, add_graph
from tidemark.api.graph_endpoints import STATES as GRAPH_STATES
from tidemark.api.live_changes import LiveChanges
from tidemark.api.metrics import Metrics, TimedRequests
from tidemark.api.past_slices import PastSlicesModel  # noqa: TC001 - FastAPI reads annotations
from tidemark.api.report_quota import ReportQuota
from tidemark.api.request_limits import HeaderLimit, TokenBuckets, WriteLimit
from tidemark.api.response_models import (
    CountsReceiptModel,
    ErrorDetail,
    ErrorModel,
    HealthModel,
    ImpactModel,
    ReceiptModel,
    SlicesModel,
)
from tidemark.api.slice_endpoints import (
    CHANGES,
    EXPLANATION,
    MATRIX,
    STATUS,
    add_changes,
    add_explanation,
    add_matrix,
    add_status,
)
from tidemark.api.thread_limits import Threads, run_in
from tidemark.catalog.catalog import SHOWN_SLICES
from tidemark.center.detectors.external_report import CalendarInstant, Report
from tidemark.center.errors import BodyTooLongError
from tidemark.crawl.count_report import ENTRY_SCHEMA
from tidemark.dependency_model.subject.subject_id import TEXT_LIMIT
from tidemark.errors import ParseError, TidemarkError, TransientError, TransitionError, UnknownEntityError
from tidemark.state_store.access_tokens import AccessTokens
from tidemark.state_store.audit_log import MOST_SHOWN, AuditLog
from tidemark.state_store.errors import BackfillPhaseError, NoSuchBackfillError
from tidemark.system.caller import ALL_SCOPES, AccessScope
from tidemark.system.http_guard import READS, BodyQuota, HttpGuard, caller_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from tidemark.api.options import ApiOptions
    from tidemark.center.baseline import CenterForecast
    from tidemark.center.center import DependencyCenter
    from tidemark.system.http_guard import AsgiApp, Scope
    from tidemark.warehouse.warehouse import Warehouse

    StatusOf = Callable[[], Mapping[str, Any]]

HEALTH: Final = "/health"
CATALOG: Final = "/v1/catalog"
BASELINE: Final = "/v1/baseline"
AUDIT_LOG: Final = "/v1/audit-log"
_PATHS: Final = (
    "/v1/reports",
    "/v1/counts",
    "/v1/slices",
    "/v1/impact",
    BACKFILLS,
    CATALOG,
    BASELINE,
    AUDIT_LOG,
    EXPLANATION,
    GRAPH,
    PICTURE,
    GRAPH_STATES,
    MATRIX,
    STATUS,
    CHANGES,
    SESSION,
    HEALTH,
    "/metrics",
    "/openapi.json",
    "/docs",
)
_ASK_AGAIN: Final = {"Retry-After": "1", "Connection": "close"}
"""The client must retry with a new connection, which may reach the active center."""
_MOST_SLICES: Final = 1_000
_METRICS_TYPE: Final = "text/plain; version=0.0.4"
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorModel} for status in (400, 401, 403, 404, 409, 411, 413, 415, 429, 431, 503)
}


def _one_or_several(entry: dict[str, Any]) -> dict[str, Any]:
    """A body with one entry of this JSON schema, or a list of entries."""
    schema = {"oneOf": [entry, {"type": "array", "items": entry}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


_REPORT_BODY: Final = _one_or_several(Report.model_json_schema())
_COUNTS_BODY: Final = _one_or_several(ENTRY_SCHEMA)


def api_app(
    center: DependencyCenter,
    forecast: CenterForecast,
    options: ApiOptions,
    status: StatusOf = dict,
    warehouse: Warehouse | None = None,
    live: LiveChanges | None = None,
) -> AsgiApp:
    """The endpoints of one center and its forecast, guarded; `status` is the service's own.

    Without a `warehouse` there are only the declared entities of the center's graph, and no explanations of slices.
    """
    bodies, quota = BodyQuota(), ReportQuota(TokenBuckets(options.writes_per_second))
    metrics, audit = Metrics(status, center.latency, bodies, quota), AuditLog(center.store.database)
    threads, sessions = Threads(), Sessions()
    app = _application(threads)
    _add_endpoints(app, Queries(center, forecast, audit, quota=quota), threads)
    add_backfills(app, BackfillQueries(center, forecast, audit), threads)
    if warehouse is not None:
        add_explanation(app, warehouse, center.store, threads)
        add_graph(app, warehouse, center.store, threads)
        add_matrix(app, warehouse, center.store, threads)
        add_status(app, warehouse, center.store, threads)
    add_changes(app, live or LiveChanges(center.store.read), threads)
    add_session(app, sessions)
    add_console(app, console_files())
    add_description(app)
    _add_watching(app, metrics, status, threads)
    _add_audit_log(app, audit, threads)
    limited = WriteLimit(app, quota.callers)
    guarded = HttpGuard(limited, options.host_names, _access(center, options).admit, bodies=bodies)
    return TimedRequests(HeaderLimit(SessionDoor(guarded, sessions)), metrics.http, _PATHS)


def _access(center: DependencyCenter, options: ApiOptions) -> Access:
    return Access(
        needed_scope,
        options.token,
        KnownTokens(AccessTokens(center.store.database).rows),
        options.proxy,
        frozenset() if options.needs_name else ALL_SCOPES,
    )


def needed_scope(request: Scope) -> AccessScope | None:
    """The scope that a request needs; None for /health and the console's files, which contain no data."""
    path, is_read = request["path"], request["method"] in READS
    if is_read and (path in (HEALTH, CONSOLE) or path.startswith(f"{CONSOLE}/")):
        return None
    named = {"/metrics": AccessScope.METRICS, AUDIT_LOG: AccessScope.ADMIN}
    written = {"/v1/reports": AccessScope.REPORT, "/v1/counts": AccessScope.REPORT, SESSION: AccessScope.READ}
    if is_read:
        return named.get(path, AccessScope.READ)
    return written.get(path, AccessScope.OPERATE)


def _application(threads: Threads) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        threads.close()

    app = FastAPI(
        title="Tidemark",
        description=__doc__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_ERRORS,
        lifespan=lifespan,
    )
    app.add_exception_handler(TidemarkError, _refuse)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _no_endpoint)
    app.add_exception_handler(ClientDisconnect, _gone)
    return app


def _add_endpoints(app: FastAPI, queries: Queries, threads: Threads) -> None:
    @app.post("/v1/reports", openapi_extra=_REPORT_BODY)
    async def report(request: Request) -> ReceiptModel:
        """Take one report or a list of reports: all, or none."""
        return await run_in(threads.reports, partial(queries.report, await request.body(), caller_of(request.scope)))

    @app.post("/v1/counts", openapi_extra=_COUNTS_BODY)
    async def counts(request: Request) -> CountsReceiptModel:
        """Take counts of records. A repeated count of a part and minute replaces the earlier one."""
        return await run_in(threads.reports, partial(queries.counts, await request.body(), caller_of(request.scope)))

    @app.get("/v1/slices")
    async def slices(
        subject: Annotated[str, Query(max_length=TEXT_LIMIT)], as_of: CalendarInstant | None = None
    ) -> SlicesModel | PastSlicesModel:
        """Return the status of each slice of a subject and what it waits for;

        with `as_of`, the status at a past time.
        """
        return await run_in(threads.queries, partial(queries.slices, subject, as_of))

    @app.get("/v1/impact")
    async def impact(
        subject: Annotated[str, Query(max_length=TEXT_LIMIT)], until: CalendarInstant | None = None
    ) -> ImpactModel:
        """Return the slices that are computed from those of a subject, and what each needs: clear, start or nothing."""
        return await run_in(threads.queries, partial(queries.impact, subject, until))

    @app.get(CATALOG)
    async def catalog(as_of: Annotated[str | None, Query(include_in_schema=False)] = None) -> CatalogModel:
        """Return the present data of each entity."""
        if as_of is not None:
            raise ParseError(
                "a past catalog is for a single entity", found=f"as_of={as_of}", hint=f"ask {CATALOG}/ENTITY"
            )
        return await run_in(threads.queries, queries.catalog)

    @app.get(f"{CATALOG}/{{entity}}")
    async def catalog_page(
        entity: Annotated[str, PathText(max_length=TEXT_LIMIT)],
        limit: Annotated[int, Query(ge=1, le=_MOST_SLICES)] = SHOWN_SLICES,
        before: Annotated[str, Query(max_length=TEXT_LIMIT)] = "",
        as_of: CalendarInstant | None = None,
    ) -> CatalogPageModel:
        """Return the data of one entity with its newest slices;

        `before` is the key of the last slice of the page before.

        With `as_of`, the data at a past time; sizes and schemas are only known for the present.
        """
        return await run_in(threads.queries, partial(queries.catalog_page, entity, limit, before, as_of))

    @app.get(BASELINE)
    async def baseline() -> BaselinesModel:
        """Return when each open promised slice will be there, and what makes it late."""
        return await run_in(threads.queries, queries.baseline)

    @app.get(f"{BASELINE}/{{entity}}")
    async def baseline_of(entity: Annotated[str, PathText(max_length=TEXT_LIMIT)]) -> BaselinesModel:
        """Return the baselines of one entity."""
        return await run_in(threads.queries, partial(queries.baseline, entity))


def _add_watching(app: FastAPI, metrics: Metrics, status: StatusOf, threads: Threads) -> None:
    @app.get(HEALTH, responses={503: {"model": HealthModel}})
    async def health(response: Response) -> HealthModel:
        """Return whether the center works."""
        figures = await run_in(threads.watching, status)
        troubles = figures.get("troubles", [])
        response.status_code = 503 if troubles else 200
        return HealthModel(healthy=not troubles, active=figures.get("active", True), troubles=troubles)

    @app.get("/metrics")
    async def prometheus() -> Response:
        """Return metrics in Prometheus' text format."""
        return Response(await run_in(threads.watching, metrics.text), media_type=_METRICS_TYPE)


def _add_audit_log(app: FastAPI, audit: AuditLog, threads: Threads) -> None:
    @app.get(AUDIT_LOG)
    async def audit_log(
        limit: Annotated[int, Query(ge=1, le=MOST_SHOWN)] = 100,
        before: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None,
        who: Annotated[str | None, Query(max_length=512)] = None,
    ) -> AuditLogModel:
        """Return the newest actions first; `before` is the number of the last entry of the page before."""
        return audit_log_model(await run_in(threads.queries, partial(audit.rows, limit, before, who)))


async def _refuse(_request: Request, error: Exception) -> Response:
    detail = {name: getattr(error, name, None) for name in ErrorDetail.model_fields}
    status = _status_code(error)
    return JSONResponse({"error": detail}, status, _ASK_AGAIN if status == HTTPStatus.SERVICE_UNAVAILABLE else None)


async def _invalid(_request: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(step) for step in first.get("loc", ()))
    return _error(400, str(first.get("msg", "the value is not valid")), where)


async def _no_endpoint(_request: Request, error: Exception) -> Response:
    status, headers = (error.status_code, error.headers) if isinstance(error, HTTPException) else (400, None)
    response = _error(status, HTTPStatus(status).phrase.lower())
    response.headers.update(headers or {})
    return response


async def _gone(_request: Request, _disconnect: Exception) -> Response:
    """The client has closed the connection, or was too slow."""
    return _error(408, "the request's body did not arrive in time")


def _error(status: int, message: str, where: str | None = None) -> Response:
    return JSONResponse({"error": ErrorDetail(message=message, where=where).model_dump()}, status)


def _status_code(error: Exception) -> int:
    kinds = (
        (UnknownEntityError, 404),
        (NoSuchBackfillError, 404),
        (TransitionError, 409),
        (BackfillPhaseError, 409),
        (BodyTooLongError, 413),
        (BudgetSpentError, 429),
        (ReportQuotaError, 429),
        (TransientError, 503),
    )
    return next((status for kind, status in kinds if isinstance(error, kind)), 400)

"""The HTTP interface.

    POST /v1/reports             one report or a list of them: all are taken, or none
    GET  /v1/slices?subject=...  each slice of a subject: its status, its inputs with theirs, what it waits for
    GET  /health                 200 while it works or stands by, 503 when it is stuck; needs no token
    GET  /metrics                figures in Prometheus' text format

    200 done   400 cannot be understood   401 no token or a wrong one   404 no such entity
    409 cannot be so (the slice's run_state does not have it)   413 too long   503 the store does not answer: ask again

An error's body is {"error": {"message", "expected", "found", "where", "hint"}}. Nothing was changed then.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from tidemark.api.metrics import prometheus_text
from tidemark.center.detectors.report import MOST_BYTES, facts_of, slices_of
from tidemark.center.errors import RequestError
from tidemark.dependency_model.errors import TidemarkError, TransientError, TransitionError, UnknownEntityError
from tidemark.state_store.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from tidemark.center.center import DependencyCenter
    from tidemark.center.fact import Fact
    from tidemark.dependency_model.readiness.explanation import Explanation
    from tidemark.dependency_model.status import SliceStatus

_MOST_SLICES = 1_000
_TRIES = 3
_STUCK_SECONDS = 60.0


class Api:
    """The endpoints on one center. `tasks` translates another scheduler's task ids; `status` is the service's own."""

    def __init__(
        self,
        center: DependencyCenter,
        token: str | None = None,
        tasks: Mapping[str, str] | None = None,
        status: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._center, self._token, self._tasks, self._status = center, token, tasks, status
        self.app = Starlette(
            routes=[
                Route("/v1/reports", self._report, methods=["POST"]),
                Route("/v1/slices", self._slices, methods=["GET"]),
                Route("/health", self._health, methods=["GET"]),
                Route("/metrics", self._metrics, methods=["GET"]),
            ]
        )

    async def _health(self, _request: Request) -> Response:
        status = await run_in_threadpool(self._status)
        is_stuck = status.get("seconds_since_turn", 0.0) > _STUCK_SECONDS
        told = {"healthy": not is_stuck, "active": status.get("active", True)}
        return JSONResponse(told, 503 if is_stuck else 200)

    async def _metrics(self, request: Request) -> Response:
        if not self._is_allowed(request):
            return _unauthorized()
        lines = prometheus_text(await run_in_threadpool(self._status))
        return PlainTextResponse(lines, media_type="text/plain; version=0.0.4")

    async def _report(self, request: Request) -> Response:
        if not self._is_allowed(request):
            return _unauthorized()
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return _failed(RequestError("the body is too long", expected=f"at most {MOST_BYTES} bytes"), 413)
        return await run_in_threadpool(self._answered, self._take, body)

    async def _slices(self, request: Request) -> Response:
        if not self._is_allowed(request):
            return _unauthorized()
        return await run_in_threadpool(self._answered, self._tell, request.query_params.get("subject", ""))

    def _answered(self, what: Any, argument: Any) -> Response:
        try:
            return JSONResponse(what(argument))
        except TidemarkError as error:
            return _failed(error, _status_of(error))

    def _take(self, body: bytes) -> dict[str, int]:
        facts = facts_of(body, self._center.graph, self._tasks)
        for _ in range(_TRIES - 1):
            try:
                return self._told_center(facts)
            except ConflictError:  # another center wrote in between; it is known by event ids what is there
                self._center.catch_up()
        return self._told_center(facts)

    def _told_center(self, facts: Sequence[Fact]) -> dict[str, int]:
        receipt = self._center.report(facts, strict=True)
        return {"new": receipt.new, "known": receipt.known}

    def _tell(self, subject: str) -> dict[str, Any]:
        self._center.catch_up()
        found = slices_of(subject, self._center.graph, self._tasks)
        if len(found) > _MOST_SLICES:
            raise RequestError("too many slices", expected=f"at most {_MOST_SLICES}", found=str(len(found)))
        return {"slices": [_told(self._center, self._center.explain(slice_)) for slice_ in found]}

    def _is_allowed(self, request: Request) -> bool:
        if self._token is None:
            return True
        given = request.headers.get("authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())


def _told(center: DependencyCenter, found: Explanation) -> dict[str, Any]:
    clauses = []
    for clause in found.clauses:
        verdict = clause.verdict
        clauses.append(
            {
                "entity": clause.requirement.dependency.entity,
                "offset": str(clause.requirement.dependency.offset),
                "met": bool(verdict and verdict.met),
                "reason": verdict.reason.value if verdict else None,
                "due": verdict.due.isoformat() if verdict and verdict.due else None,
                "inputs": [{"slice": str(one), **_status(center.status(one))} for one in clause.requirement.slices],
            }
        )
    release = found.release
    return {
        "slice": str(found.slice),
        **_status(found.status),
        "not_before": found.not_before.isoformat(),
        "may_start": bool(release and release.released),
        "waits_for": [str(one) for one in release.missing] if release else [],
        "clauses": clauses,
    }


def _status(status: SliceStatus | None) -> dict[str, Any]:
    if status is None:
        return {}
    return {
        "run_state": status.run_state.value,
        "states": sorted(status.states),
        "quality": status.quality.value,
        "issues": sorted(map(str, status.issues)),
        "tainted": status.tainted,
        "valid": status.valid,
        "generation": status.generation,
    }


def _status_of(error: TidemarkError) -> int:
    if isinstance(error, UnknownEntityError):
        return 404
    if isinstance(error, TransitionError):
        return 409
    return 503 if isinstance(error, TransientError) else 400


def _failed(error: TidemarkError, status: int) -> Response:
    names = ("message", "expected", "found", "where", "hint")
    return JSONResponse({"error": {name: getattr(error, name) for name in names}}, status)


def _unauthorized() -> Response:
    error = RequestError("a token is needed", expected="the header 'Authorization: Bearer <token>'")
    response = _failed(error, 401)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response

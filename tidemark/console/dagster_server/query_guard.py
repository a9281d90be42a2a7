"""GraphQL as it comes in, over HTTP and WebSockets: one bounded query at a time, in the form that Dagster reads.

Dagster's web server has no limit for queries, takes any JSON for a request (a list, a number, a text a thousand levels
deep are errors with a traceback in its log) and any number of subscriptions of one WebSocket.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tidemark.console.dagster_server.launch_guard import check_launches
from tidemark.console.dagster_server.query_limits import QueryTooLargeError, check_query
from tidemark.strict_json import json_text
from tidemark.system.http_guard import Refusal, send_refusal
from tidemark.system.run_config import RunConfigRefusedError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

MOST_SUBSCRIPTIONS: Final = 500
"""Of one WebSocket, over its life: Dagster keeps those that have ended."""
MOST_NESTED: Final = 100
"""Levels of lists and objects in variables; a run's configuration is some ten."""
_PATH: Final = "/graphql"
_POLICY_VIOLATION: Final = 1008
_FORM: Final = "an object with a text 'query', and 'variables' as an object"


class QueryGuard:
    """An ASGI application around Dagster's; what it lets through, it lets through unchanged."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._app(scope, _Subscriptions(receive, send).receive, send)
        elif scope["type"] == "http" and scope["method"] == "POST" and scope["path"].rstrip("/") == _PATH:
            await self._post(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        refusal = _refusal(b"".join(message.get("body", b"") for message in messages))
        if refusal is not None and messages[-1]["type"] == "http.request":
            await send_refusal(refusal, send)
            return
        messages.reverse()

        async def again() -> MutableMapping[str, Any]:
            return messages.pop() if messages else await receive()

        await self._app(scope, again, send)


class _Subscriptions:
    """What a page sends over its WebSocket; what is refused closes it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._started = 0

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        if message["type"] != "websocket.receive":
            return message
        refusal = self._refusal(message.get("text") or "")
        if refusal is None:
            return message
        await self._send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.message})
        return {"type": "websocket.disconnect", "code": _POLICY_VIOLATION}

    def _refusal(self, text: str) -> Refusal | None:
        said = _json(text)
        if not isinstance(said, dict) or not isinstance(said.get("id"), str | int | None):
            return _malformed()
        if said.get("type") != "start":
            return None
        self._started += 1
        if self._started > MOST_SUBSCRIPTIONS:
            return Refusal(429, "too many subscriptions", f"at most {MOST_SUBSCRIPTIONS} of a WebSocket")
        return _wrong_query(said.get("payload"))


def _refusal(body: bytes) -> Refusal | None:
    return _wrong_query(_json(body))


def _json(text: str | bytes) -> Any:
    """None for what is no JSON, or nested too deeply."""
    try:
        value = json.loads(text)
        json_text(value, ensure_ascii=False).encode()  # no half of a character, which `\\ud800` in JSON is
    except (ValueError, RecursionError):
        return None
    return value if _is_flat(value) else None


def _is_flat(value: Any) -> bool:
    """Level by level: what a parser takes may be too deep for who goes through it later."""
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            below
            for above in level
            if isinstance(above, list | dict)
            for below in (above.values() if isinstance(above, dict) else above)
        ]
    return not level


def _wrong_query(request: Any) -> Refusal | None:
    if not isinstance(request, dict) or not isinstance(request.get("query"), str):
        return _malformed()
    variables = request.get("variables")
    if isinstance(variables, str):
        variables = _json(variables)
        if variables is None:
            return _malformed()
    if not isinstance(variables, dict | None) or not isinstance(request.get("operationName"), str | None):
        return _malformed()
    try:
        document = check_query(request["query"])
        if document is not None:
            check_launches(document, variables or {})
    except QueryTooLargeError as error:
        return Refusal(400, "the query is too large", error.expected, error.found)
    except RunConfigRefusedError as error:
        return Refusal(400, error.message, error.expected or "", error.found)
    return None


def _malformed() -> Refusal:
    return Refusal(400, "this is no GraphQL request", _FORM)

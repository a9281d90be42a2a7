"""Checks GraphQL over HTTP and WebSockets: one query at a time, limited in size, in the form that Dagster reads.

Mutations need the scope `operate`, are accepted only over HTTP, and are written to the audit log before Dagster
receives them. Dagster's web server itself limits neither queries nor the subscriptions of a WebSocket. It also accepts
any JSON as a request: a list, a number, or a thousand nested levels cause a traceback in its log.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from graphql import FieldNode, OperationDefinitionNode, OperationType, Visitor, strip_ignored_characters, visit

from tidemark.console.dagster_server.launch_guard import check_launches
from tidemark.console.dagster_server.query_limits import QueryTooLargeError, check_query
from tidemark.state_store.audit_log import LONGEST_SUBJECT, AuditEntry
from tidemark.strict_json import json_text
from tidemark.system.caller import AccessScope
from tidemark.system.http_guard import Refusal, caller_of, send_refusal
from tidemark.system.run_config import RunConfigRefusedError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from graphql import DocumentNode

    from tidemark.console.dagster_server.recorded_actions import Record
    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

MOST_SUBSCRIPTIONS: Final = 500
"""Most subscriptions of one WebSocket in total, because Dagster keeps finished ones."""
MOST_NESTED: Final = 100
"""Most nested lists and objects in variables; a run's configuration has about ten."""
_PATH: Final = "/graphql"
_POLICY_VIOLATION: Final = 1008
_OF_ITS_PAGES: Final = frozenset({"logTelemetry", "setNuxSeen"})
"""Mutations that Dagster's pages send without a user's action; they do not change the warehouse."""
_UNREADABLE: Final = ()
"""Stands for variables with invalid JSON: not an object, so the request is refused."""
_FORM: Final = "an object with a text 'query', and 'variables' as an object"


class QueryGuard:
    """An ASGI application around Dagster's; passes accepted requests unchanged. `record` writes to the audit log."""

    def __init__(self, app: AsgiApp, record: Record) -> None:
        self._app, self._record = app, record

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
        refusal = await self._refusal(scope, b"".join(message.get("body", b"") for message in messages))
        if refusal is not None and messages[-1]["type"] == "http.request":
            await send_refusal(refusal, send)
            return
        messages.reverse()

        async def again() -> MutableMapping[str, Any]:
            return messages.pop() if messages else await receive()

        await self._app(scope, again, send)

    async def _refusal(self, scope: Scope, body: bytes) -> Refusal | None:
        request = _json(body)
        mutations = _mutations(request)
        if isinstance(mutations, Refusal):
            return mutations
        if not mutations - _OF_ITS_PAGES:
            return None
        caller = caller_of(scope)
        if not caller.may(AccessScope.OPERATE):
            return Refusal(
                403, f"{caller.who} does not have the right to do this", f"the scope {AccessScope.OPERATE.value}"
            )
        return await self._record(
            AuditEntry(caller.who, caller.source, f"graphql {', '.join(sorted(mutations))}", _subject(request))
        )


class _Subscriptions:
    """The messages that a page sends on its WebSocket. A refused message closes it."""

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
            return Refusal(429, "too many subscriptions", f"at most {MOST_SUBSCRIPTIONS} for each WebSocket")
        mutations = _mutations(said.get("payload"))
        if isinstance(mutations, Refusal):
            return mutations
        return Refusal(405, "changes over a WebSocket are not allowed", "POST with JSON") if mutations else None


def _json(text: str | bytes) -> Any:
    """The JSON value; None if it is invalid or nested too deeply."""
    try:
        value = json.loads(text)
        json_text(value, ensure_ascii=False).encode()  # fails for half of a surrogate pair, such as `\\ud800`
    except (ValueError, RecursionError):
        return None
    return value if _is_flat(value) else None


def _is_flat(value: Any) -> bool:
    """Check the depth level by level: a parsed value may be too deep for recursive code."""
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            below
            for above in level
            if isinstance(above, list | dict)
            for below in (above.values() if isinstance(above, dict) else above)
        ]
    return not level


def _mutations(request: Any) -> frozenset[str] | Refusal:
    """The mutations in all operations of a request, or why the request is refused."""
    if not isinstance(request, dict) or not isinstance(request.get("query"), str):
        return _malformed()
    variables = request.get("variables")
    if isinstance(variables, str):
        variables = _json(variables)
        variables = _UNREADABLE if variables is None else variables
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
    return _mutation_fields(document) if document is not None else frozenset()


def _mutation_fields(document: DocumentNode) -> frozenset[str]:
    """The fields that the mutations of a document select; with fragments, every field of the document."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    changing = [node for node in operations if node.operation is OperationType.MUTATION]
    plain = [
        selection.name.value
        for node in changing
        for selection in node.selection_set.selections
        if isinstance(selection, FieldNode)
    ]
    if len(plain) == sum(len(node.selection_set.selections) for node in changing):
        return frozenset(plain)
    return frozenset(_Fields.of(document))


class _Fields(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    @classmethod
    def of(cls, document: DocumentNode) -> set[str]:
        fields = cls()
        visit(document, fields)
        return fields.names

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        self.names.add(node.name.value)


def _subject(request: dict[str, Any]) -> str:
    """The request for the audit log: without comments and spaces, which could push its end out of the entry.

    What does not fit is replaced by the length and a digest of the whole.
    """
    asked = {"query": strip_ignored_characters(request["query"]), "variables": request.get("variables")}
    text = json_text(asked, ensure_ascii=False)
    if len(text) <= LONGEST_SUBJECT:
        return text
    end = f" ... {len(text):,} characters, SHA-256 {sha256(text.encode()).hexdigest()}"
    return text[: LONGEST_SUBJECT - len(end)] + end


def _malformed() -> Refusal:
    return Refusal(400, "this is not a GraphQL request", _FORM)

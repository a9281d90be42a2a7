"""Requests without a query of bounded size end at the guard; others reach the application unchanged."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.console.dagster_server.query_guard import MOST_SUBSCRIPTIONS, QueryGuard

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    Message = MutableMapping[str, Any]

QUERY = "query Q($tags: [String!]) {runs(tags: $tags) {id}}"
LARGE = "{" + "version " * 202 + "}"
DEEP: Any = "[" * 900 + "]" * 900
MALFORMED: tuple[Any, ...] = (
    *([], [{"query": QUERY}], 1, None, "text", {}, {"query": None}, {"query": 1}, {"query": [QUERY]}),
    *({"query": QUERY, "operationName": "\ud800"}, {"query": QUERY, "variables": {"tags": ["\udfff"]}}),
    *({"query": QUERY, "variables": []}, {"query": QUERY, "variables": "["}, {"query": QUERY, "variables": DEEP}),
    *({"query": QUERY, "variables": {"tags": json.loads(DEEP)}}, {"query": QUERY, "operationName": {}}),
)
RAW = (b"", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 100_000, json.dumps({"query": QUERY}).encode()[:-1])


class Played:
    """An application that takes all that is there; what it got, and what was answered."""

    def __init__(self) -> None:
        self.received: list[Message] = []
        self.sent: list[Message] = []

    async def __call__(self, _scope: Any, receive: Any, _send: Any) -> None:
        while not self._has_all():
            self.received.append(await receive())

    def _has_all(self) -> bool:
        last = self.received[-1] if self.received else {"type": "nothing", "more_body": True}
        return last["type"] not in ("websocket.connect", "websocket.receive") and not last.get("more_body")


def _ask(messages: Sequence[Message], **scope: str) -> Played:
    played, pending = Played(), list(messages)

    async def receive() -> Message:
        return pending.pop(0)

    async def send(message: Message) -> None:
        played.sent.append(message)

    async def record(_entry: Any) -> None:
        raise AssertionError("a query is no action")

    request = {"type": "http", "method": "POST", "path": "/graphql", **scope}
    asyncio.run(QueryGuard(played, record)(request, receive, send))
    return played


def _body(body: bytes) -> list[Message]:
    return [{"type": "http.request", "body": body, "more_body": False}]


@pytest.mark.parametrize(
    "request_",
    [
        {"query": QUERY},
        {"query": QUERY, "variables": None, "operationName": None},
        {"query": QUERY, "variables": {"tags": ["x"] * 100_000}, "operationName": "Q"},
        {"query": QUERY, "variables": '{"tags": []}'},
    ],
)
def test_a_query_passes_unchanged_with_all_its_parts(request_: dict[str, Any]) -> None:
    body = json.dumps(request_).encode()
    parts: list[Message] = [
        {"type": "http.request", "body": body[:10], "more_body": True},
        {"type": "http.request", "body": body[10:], "more_body": False},
    ]
    played = _ask(parts)
    assert (played.received, played.sent) == (parts, [])


@pytest.mark.parametrize("body", [*(json.dumps(value).encode() for value in MALFORMED), *RAW])
def test_an_invalid_request_is_refused(body: bytes) -> None:
    played = _ask(_body(body))
    assert played.received == []
    assert played.sent[0]["status"] == 400
    assert "not a GraphQL request" in played.sent[1]["body"].decode()


@pytest.mark.parametrize("path", ["/graphql", "/graphql/"])
def test_a_large_query_is_refused_with_the_limit(path: str) -> None:
    played = _ask(_body(json.dumps({"query": LARGE}).encode()), path=path)
    assert played.received == []
    assert played.sent[0]["status"] == 400
    error = json.loads(played.sent[1]["body"])["error"]
    assert error["expected"] == "at most 20,000 pairs of fields with the same name at one place"


def test_a_client_that_leaves_gets_no_answer() -> None:
    gone: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    played = _ask(gone)
    assert played.sent == []


def test_other_pages_and_methods_are_not_read() -> None:
    for scope in ({"path": "/server_info"}, {"method": "GET"}, {"method": "OPTIONS"}):
        messages = _body(b"[")
        assert _ask(messages, **scope).received == messages


def _said(value: Any) -> Message:
    return {"type": "websocket.receive", "text": value if isinstance(value, str) else json.dumps(value)}


OPEN = [{"type": "websocket.connect"}, _said({"type": "connection_init", "payload": {}})]
END = {"type": "websocket.disconnect", "code": 1000}


def _start(query: Any = QUERY, **more: Any) -> Message:
    return _said({"type": "start", "id": "1", "payload": {"query": query, **more}})


def test_a_page_listens_and_stops() -> None:
    messages = [*OPEN, _start(), _said({"type": "stop", "id": "1"}), _said({"type": "connection_terminate"}), END]
    played = _ask(messages, type="websocket")
    assert (played.received, played.sent) == (messages[: len(played.received)], [])
    assert played.received[-1] == END


@pytest.mark.parametrize(
    "message",
    [
        *(_said(text) for text in ("", "{", "[]", "1", "[" * 100_000, '{"id": []}', '{"id": {}}')),
        *(_start(query) for query in (LARGE, None, 1, "mutation {launchRun {id}}", "mutation {logTelemetry {id}}")),
        _start(variables=[]),
        _said({"type": "start", "id": "1"}),
        {"type": "websocket.receive", "bytes": b"{}"},
    ],
)
def test_an_invalid_message_closes_the_socket(message: Message) -> None:
    played = _ask([*OPEN, message, _start()], type="websocket")
    assert played.received == [*OPEN, {"type": "websocket.disconnect", "code": 1008}]
    assert [(answer["type"], answer["code"]) for answer in played.sent] == [("websocket.close", 1008)]


def test_a_socket_has_a_number_of_subscriptions() -> None:
    played = _ask([*OPEN, *[_start()] * (MOST_SUBSCRIPTIONS + 1), END], type="websocket")
    assert len(played.received) == len(OPEN) + MOST_SUBSCRIPTIONS + 1
    assert played.received[-1] == {"type": "websocket.disconnect", "code": 1008}

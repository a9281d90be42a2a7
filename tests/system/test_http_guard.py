"""The guard, request by request: what a browser sends for another page, and what is let in."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.api.access import Access
from tidemark.system.caller import ALL_SCOPES, AccessScope
from tidemark.system.http_guard import MOST_BYTES_AT_A_TIME, BodyQuota, HttpGuard, host_names

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

TOKEN = "0123456789abcdef"
JSON = {"content-type": "application/json", "content-length": "2"}


def _needed(scope: Any) -> AccessScope | None:
    return None if scope["path"] == "/health" else AccessScope.READ


class Inner:
    """The application behind the guard: how often it was reached."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        self.reached += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})


def ask(
    headers: Mapping[str, str | list[str]],
    method: str = "GET",
    path: str = "/",
    *,
    token: str | None = None,
    kind: str = "http",
) -> tuple[list[MutableMapping[str, Any]], int]:
    """What the guard sent for one request, and how often it let the application answer."""
    inner = Inner()
    sent: list[MutableMapping[str, Any]] = []
    access = Access(_needed, token, anonymous=frozenset() if token else ALL_SCOPES)
    names = host_names("127.0.0.1", ["lake.example"])
    guard = HttpGuard(inner, names, access.admit, post_only=["/graphql"])
    given = {"host": "localhost:3080", **headers}
    pairs = [(name, [value] if isinstance(value, str) else value) for name, value in given.items()]
    scope: dict[str, Any] = {
        "type": kind,
        "method": method,
        "path": path.partition("?")[0],
        "query_string": path.partition("?")[2].encode(),
        "server": ("192.0.2.7", 3080),
        "headers": [(name.encode(), value.encode("latin-1")) for name, values in pairs for value in values],
    }

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("the guard reads no body")

    asyncio.run(guard(scope, receive, send))
    return sent, inner.reached


def status(headers: Mapping[str, str | list[str]], method: str = "GET", path: str = "/", **others: Any) -> int:
    """The status of the answer; a refusal never reaches the application."""
    sent, reached = ask(headers, method, path, **others)
    code = int(sent[0]["status"])
    assert reached == (code == 200)
    return code


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "localhost.", "127.0.0.1:3080", "[::1]:3080", "lake.example", "192.0.2.7:3080"],
)
def test_names_of_the_server_are_answered(host: str) -> None:
    assert status({"host": host}) == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]", "192.0.2.8", ["localhost", "evil"], []],
)
@pytest.mark.parametrize("token", [None, TOKEN])
def test_other_host_names_are_refused_for_every_caller(host: str | list[str], token: str | None) -> None:
    given = {"host": host, "authorization": f"Bearer {TOKEN}"}
    assert status(given, token=token) == 403
    assert status({**given, **JSON}, "POST", token=token) == 403


def test_a_wildcard_address_has_this_machines_names() -> None:
    assert {"localhost", "127.0.0.1", "[::1]"} < host_names("0.0.0.0")  # noqa: S104 - a name, not bound
    assert "[2001:db8::1]" in host_names("2001:DB8::1")
    assert "evil.example" not in host_names("::", ["lake.example"])


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 200),
        ({"origin": "http://localhost:3080"}, 200),
        ({"origin": "https://localhost:3080", "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[bad"}, 403),
        ({"origin": "file://localhost:3080"}, 403),
        ({"origin": ["http://localhost:3080", "http://evil.example"]}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 403),
    ],
)
def test_only_own_pages_and_no_browser_write(headers: dict[str, str], code: int) -> None:
    assert status({**JSON, **headers}, "POST") == code
    assert status({**JSON, **headers}, "DELETE") == code


def test_another_page_embeds_nothing_and_may_link() -> None:
    foreign = {"sec-fetch-site": "cross-site"}
    assert status({**foreign, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}) == 403
    assert status({**foreign, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}) == 403
    assert status({**foreign, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}) == 200


def test_a_query_is_not_executed_by_get() -> None:
    assert status({}, path="/graphql") == 200
    assert status({}, path="/graphql?query=mutation{wipeAssets}") == 405
    assert status({}, path="/graphql/?query=") == 405
    assert status({}, "HEAD", path="/graphql?query=a") == 405
    assert status({}, path="/other?query=a") == 200
    assert status(JSON, "POST", "/graphql?op=Runs") == 200


def test_nor_by_a_post_without_a_body() -> None:
    """It has no Content-Type that could be wrong, and Dagster would take the query from the address."""
    assert status({}, "POST", "/graphql?query=mutation{wipeAssets}") == 405
    assert status(JSON, "POST", "/graphql?query=a") == 405


def test_a_body_has_a_length_and_a_limit() -> None:
    assert status({**JSON, "transfer-encoding": "chunked"}, "POST") == 411
    assert status({"content-type": "application/json", "transfer-encoding": "chunked"}, "POST") == 411
    assert status({**JSON, "content-length": str(8 << 20)}, "POST") == 200
    assert status({**JSON, "content-length": str((8 << 20) + 1)}, "POST") == 413


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 200),
        ({"content-length": "0"}, 200),
        ({"content-type": "application/json; charset=utf-8", "content-length": "9"}, 200),
        ({"content-type": "Application/JSON", "content-length": "9"}, 200),
        ({"content-length": "9"}, 415),
        ({"transfer-encoding": "chunked"}, 411),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/jsonx", "content-length": "9"}, 415),
        ({"content-type": ["application/json", "text/plain"], "content-length": "9"}, 415),
        ({"content-type": "multipart/form-data; boundary=application/json", "content-length": "9"}, 415),
    ],
)
def test_a_body_is_json(headers: dict[str, str], code: int) -> None:
    assert status(headers, "POST") == code


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN}", 200),
        (f"BEARER {TOKEN}", 200),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN}x", 401),
        ("Bearer \xff", 401),
        ("", 401),
    ],
)
def test_the_token_is_asked_for_everywhere_but_on_open_paths(given: str, code: int) -> None:
    headers = {"authorization": given} if given else {}
    assert status(headers, token=TOKEN) == code
    assert status({**headers, **JSON}, "POST", token=TOKEN) == code
    assert status(headers, path="/health", token=TOKEN) == 200


def test_a_caller_with_the_token_may_send_requests_from_another_origin() -> None:
    foreign = {**JSON, "origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert status(foreign, "POST", token=TOKEN) == 403
    assert status({**foreign, "authorization": f"Bearer {TOKEN}"}, "POST", token=TOKEN) == 200


def test_a_refusal_names_the_expected_value() -> None:
    (start, body), _ = ask({}, token=TOKEN)
    assert (start["status"], dict(start["headers"])[b"www-authenticate"]) == (401, b"Bearer")
    assert set(json.loads(body["body"])["error"]) == {"message", "expected", "found", "where", "hint", "code"}


@pytest.mark.parametrize(
    ("headers", "is_open"),
    [
        ({}, True),
        ({"origin": "http://localhost:3080"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"host": "evil.example", "origin": "http://evil.example"}, False),
        (
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
            False,
        ),
    ],
)
def test_a_web_socket_opens_for_own_pages_only(headers: dict[str, str], is_open: bool) -> None:
    sent, reached = ask(headers, kind="websocket")
    assert (reached, sent[0]["type"]) == ((1, "http.response.start") if is_open else (0, "websocket.close"))


def test_messages_that_are_not_requests_pass() -> None:
    _, reached = ask({}, kind="lifespan")
    assert reached == 1


def test_few_bytes_of_bodies_come_in_at_a_time() -> None:
    """Half-sent ones would fill the memory. One caller leaves half of the room to the others."""
    asyncio.run(_long_bodies())


async def _long_bodies() -> None:
    sent: list[MutableMapping[str, Any]] = []
    done = asyncio.Event()

    async def slow(_scope: Any, _receive: Any, send: Any) -> None:
        await done.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    guard = HttpGuard(slow, host_names("127.0.0.1"))

    def post(size: int, client: str = "192.0.2.1") -> asyncio.Task[None]:
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers.append((b"content-length", str(size).encode()))
        scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
        return asyncio.create_task(guard({**scope, "client": (client, 1)}, None, send))  # type: ignore[arg-type]  # no body is read

    size = MOST_BYTES_AT_A_TIME // 16
    tasks = [post(size) for _ in range(8 + 5)]
    await asyncio.sleep(0)
    assert [message["status"] for message in sent if "status" in message] == [503] * 5
    others = [post(size, "192.0.2.2") for _ in range(8)]
    small = post(1, "192.0.2.1")
    await asyncio.sleep(0)
    assert [message["status"] for message in sent if "status" in message] == [503] * 6
    done.set()
    await asyncio.gather(*tasks, *others, small)
    await post(size)
    assert [message["status"] for message in sent if message.get("status") == 200] == [200] * 17


def test_released_bytes_are_free_again_and_no_caller_is_remembered() -> None:
    quota = BodyQuota(100)
    assert quota.take("a", 50)
    assert not quota.take("a", 1)
    assert quota.take("b", 50)
    assert not quota.take("c", 1)
    quota.give_back("a", 50)
    quota.give_back("b", 50)
    assert quota.take("c", 50)
    assert quota._taken == {"c": 50}


@pytest.mark.parametrize("path", ["/logs/\0", "/logs/a\n", "/\x1b[2J", "/\x7f"])
def test_a_path_with_a_control_character_is_refused(path: str) -> None:
    assert status({}, path=path) == 400

"""What is bounded before the application sees a request: headers, bodies, how often one address writes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.api.client import GOOD, TOKEN, Client, serving
from tidemark.api.options import ApiOptions
from tidemark.api.request_limits import TokenBuckets

if TYPE_CHECKING:
    import socket
    from pathlib import Path


def raw_answer(client: Client, data: bytes) -> bytes:
    """Everything that a server sends back until it closes."""
    with client.open() as opened:
        opened.sendall(data)
        return b"".join(iter(lambda: opened.recv(65_536), b""))


def test_long_headers_are_431_however_they_arrive(tmp_path: Path) -> None:
    """None is longer than what a loopback carries at once: an answer to who is still sending may be lost."""
    with serving(tmp_path) as client:
        assert client.ask("GET", "/health", headers={"X-Long": "x" * 40_000})[0] == 431
        assert client.ask("GET", "/health", headers={"X-Long": "x" * 17_000})[0] == 431
        assert client.ask("GET", "/health", headers={"X-Long": "x" * 15_000})[0] == 200
        assert client.ask("GET", "/v1/slices?subject=" + "x" * 17_000)[0] == 431
        unfinished = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 17_000
        assert raw_answer(client, unfinished).startswith(b"HTTP/1.1 431 ")
        assert raw_answer(client, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")


POST = "\r\n".join(
    [
        "POST /v1/reports HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        "",
    ]
)


def test_a_body_that_is_too_long_is_413_before_it_is_sent(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert raw_answer(client, f"{POST}Content-Length: 8388609\r\n\r\n".encode()).startswith(b"HTTP/1.1 413 ")


def test_a_body_in_chunks_is_411_and_not_read(tmp_path: Path) -> None:
    """A million chunks of a byte took half a minute of the only thread."""
    with serving(tmp_path) as client, client.open() as attacker:
        attacker.sendall(f"{POST}Transfer-Encoding: chunked\r\n\r\n".encode())
        assert attacker.recv(65_536).startswith(b"HTTP/1.1 411 ")
        with pytest.raises(ConnectionError):
            send_chunks(attacker)


def test_an_invalid_body_is_not_a_server_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each such request wrote a traceback of two kilobytes into the log."""
    with serving(tmp_path) as client:
        assert b"HTTP/1.1 400 " in raw_answer(client, f"{POST}Transfer-Encoding: chunked\r\n\r\n-1\r\n{{".encode())
        assert client.ask("GET", "/health")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def send_chunks(attacker: socket.socket) -> None:
    for _ in range(1_000):
        attacker.sendall(b"1\r\n \r\n" * 10_000)
        time.sleep(0.01)


def test_two_requests_in_one_are_both_refused(tmp_path: Path) -> None:
    """Where a proxy goes by the length and we would go by the chunks, the second one would be ours alone."""
    second = json.dumps({**GOOD, "event_id": "smuggled"})
    hidden = f"{POST}Content-Length: {len(second)}\r\n\r\n{second}"
    with serving(tmp_path) as client:
        sent = f"{POST}Content-Length: {len(hidden) + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
        answer = raw_answer(client, sent.encode())
        assert answer.startswith(b"HTTP/1.1 411 ")
        assert answer.count(b"HTTP/1.1 ") == 1
        assert client.world.store.read.last() == 0


def test_an_event_has_a_size_and_a_request_a_number_of_events(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN)) as client:
        status, answer = client.report({**GOOD, "parameters": {"a": ["x" * 4_000] * 17}})
        assert (status, answer["error"]["message"]) == (400, "the event is too large")
        assert answer["error"]["expected"] == "at most 65536 bytes"
        status, answer = client.report([{**GOOD, "event_id": str(number)} for number in range(1_001)])
        assert (status, answer["error"]["message"]) == (400, "a request holds 1 to 1,000 reports")
        assert client.world.store.read.last() == 0


def test_too_many_writes_are_answered_with_429(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=0.2)) as client:
        statuses = [client.report(GOOD)[0] for _ in range(4)]
        assert statuses == [200, 200, 429, 429]
        assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02")[0] == 200


def test_buckets_fill_again_and_are_one_a_client() -> None:
    now = [0.0]
    buckets = TokenBuckets(2.0, lambda: now[0])
    assert [buckets.take("a") for _ in range(21)] == [True] * 20 + [False]
    assert buckets.take("b")
    now[0] = 1.0
    assert [buckets.take("a") for _ in range(3)] == [True, True, False]


def test_requests_of_another_page_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(allowed_hosts=("lake.example",))) as client:
        foreign = ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"})
        for headers in foreign:
            assert client.ask("POST", "/v1/reports", GOOD, headers=headers)[0] == 403
            assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02", headers=headers)[0] == 403
        assert client.ask("POST", "/v1/reports", GOOD, headers={"Content-Type": "text/plain"})[0] == 415
        assert client.world.store.read.last() == 0
        assert client.ask("POST", "/v1/reports", GOOD, headers={"Host": "lake.example"})[0] == 200


def test_long_bodies_cost_as_many_writes_as_they_are_long() -> None:
    now = [0.0]
    buckets = TokenBuckets(10.0, lambda: now[0])
    assert buckets.take("a", 60.0)
    assert buckets.take("a", 40.0)
    assert not buckets.take("a")
    assert buckets.take("b", 1_000.0), "a full bucket allows it, and owes the rest"
    assert not buckets.take("b")
    now[0] = 4.0
    assert buckets.take("a", 40.0)
    assert not buckets.take("a", 2.0)
    assert buckets.refused == 3
    now[0] = 90.0
    assert not buckets.take("b")
    now[0] = 91.0
    assert buckets.take("b", 9.0)

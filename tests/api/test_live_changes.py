"""What happens to slices, as a page is sent it: all of it, in order, once, also by one who was away."""

from __future__ import annotations

import asyncio
import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import GOOD, TOKEN, Client, serving
from tests.center.test_center import CHAIN, CenterWorld
from tidemark.api.live_changes import MOST_AT_ONCE, LiveChanges
from tidemark.api.thread_limits import Threads
from tidemark.state_store.errors import StateStoreDownError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as opened:
        yield opened


class Stream:
    """Reads one answer of `/v1/changes`, message by message."""

    def __init__(self, client: Client, after: int | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
        given = {} if after is None else {"Last-Event-ID": str(after)}
        self._connection.request("GET", "/v1/changes", headers={"Authorization": f"Bearer {TOKEN}", **given})
        self._answer = self._connection.getresponse()
        self.status = self._answer.status

    def next(self, kind: str = "changes") -> tuple[int, Any]:
        """The number and the value of the next message of a kind."""
        while True:
            told = _message(iter(self._answer.readline, b"\n"))
            if told["event"] == kind:
                return int(told["id"]), json.loads(told["data"])

    def rest(self) -> bytes:
        """All that comes up to the end, which the server has to say: a stream that breaks off is an error."""
        return self._answer.read()

    def close(self) -> None:
        self._connection.close()


def _message(lines: Iterator[bytes]) -> dict[str, str]:
    return dict(line.decode().strip().split(": ", 1) for line in lines if b": " in line)


def test_changes_are_sent_and_a_returning_client_misses_none(client: Client) -> None:
    stream = Stream(client)
    begun, _ = stream.next("here")
    assert (begun, stream.status) == (0, 200)
    client.report(GOOD)
    seq, told = stream.next()
    stream.close()
    assert [(change["slice"], change["event"]) for change in told["changes"]] == [
        ("ods@2024-06-02", "observed"),
        ("ods@2024-06-02", "quality_passed"),
        ("dwd@2024-06-02", "released"),
    ]
    client.report({**GOOD, "event_id": "2", "subject": "ods@2024-06-01"})
    later = Stream(client, after=seq)
    last, told = later.next()
    later.close()
    assert last == client.world.store.read.last()
    assert {change["slice"] for change in told["changes"]} == {"ods@2024-06-01", "dwd@2024-06-01"}


def test_a_client_far_behind_is_asked_to_reload(client: Client) -> None:
    days = {**GOOD, "event_id": "3", "subject": "table=ods&&bizDate=20240101..20240531"}
    for year in range(2025, 2030):
        client.report({**days, "event_id": f"{year}", "subject": f"table=ods&&bizDate={year}0101..{year}0601"})
    assert client.world.store.read.last() > MOST_AT_ONCE
    stream = Stream(client, after=0)
    assert stream.next("reset") == (client.world.store.read.last(), {})
    stream.close()


@pytest.mark.parametrize("after", ["x", "-1", "1e3", str(1 << 60)])
def test_a_number_that_is_none_is_refused(client: Client, after: str) -> None:
    assert client.ask("GET", "/v1/changes", headers={"Last-Event-ID": after})[0] == 400


def test_a_server_that_ends_waits_for_no_page(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        stream = Stream(client)
        stream.next("here")
    assert b"changes" not in stream.rest()
    stream.close()


def test_a_client_that_was_away_for_long_gets_no_gap(tmp_path: Path) -> None:
    """The store is looked at while somebody listens; what happened in between comes out of the store."""
    world = CenterWorld(tmp_path, **CHAIN)

    async def listened() -> list[int]:
        live, threads = LiveChanges(world.store.read, look_seconds=0), Threads()
        seen = []
        for day in ("2024-06-01", "2024-06-02"):
            stream = await live.begin(threads.watching, 0)
            await anext(stream)
            world.tell(f"ods@{day}", "observed")
            seen.append(_sent(await anext(stream)))
            await _closed(stream)
        threads.close()
        return seen

    first, second = asyncio.run(listened())
    assert (first, second) == (3, 6)


def test_a_store_that_does_not_answer_ends_the_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = CenterWorld(tmp_path, **CHAIN)

    def down() -> int:
        raise StateStoreDownError("the state store does not answer")

    async def listened() -> list[bytes]:
        live, threads = LiveChanges(world.store.read, look_seconds=0), Threads()
        stream = await live.begin(threads.watching, None)
        await anext(stream)
        monkeypatch.setattr(world.store.read, "last", down)
        rest = [message async for message in stream]
        threads.close()
        return rest

    assert asyncio.run(listened()) == []


def _sent(message: bytes) -> int:
    return len(json.loads(message.decode().rpartition("data: ")[2])["changes"])


async def _closed(stream: AsyncIterator[bytes]) -> None:
    await stream.aclose()  # type: ignore[attr-defined]  # it is a generator

"""Requests of all kinds, good, bad and in between: only 2xx and 4xx, and nothing is changed by what is refused."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import GOOD, TOKEN, Client, serving
from tidemark.api.options import ApiOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1,
        1 << 31,
        1 << 63,
        1 << 80,
        1e308,
        0.5,
        "",
        "x",
        "\0",
        "\ud800",
        "ods",
        "é" * 50,
        "x" * 5_000,
    ),
    *([], {}, [[]], {"a": {"b": [1, None]}}, ["x"] * 50, "2024-06-02", "1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z"),
    *("9999-12-31T23:59:59-14:00", "ods@2024-06-02", "dwd@2024-06-02", "table=ods", "table=ods&&dt=19700101..21991231"),
    *(
        "table=ods&&dt=20240601..20240630",
        "table=ods&&dt=2024&&hour=00..23",
        "a@b/c=d",
        "observed",
        "tainted",
        "retried",
    ),
    *(
        "completed",
        "backfill_requested",
        "quality_failed",
        "quality_passed",
        "failed",
        "deleted",
        "started",
        "launched",
    ),
)
SUBJECTS = ("ods@2024-06-02", "dwd@2024-06-02", "table=ods&&dt=20240602", "table=dwd&&dt=20240601..20240605")
EVENTS = (
    "observed",
    "completed",
    "failed",
    "quality_failed",
    "quality_passed",
    "backfill_requested",
    "deleted",
    "retried",
)
FIELDS = (
    *("subject", "event", "event_id", "event_time", "who", "why", "generation", "state", "changed", "run_id"),
    *("cluster", "row_count", "minimum", "maximum", "snapshot_id", "batch_id", "parameters", "watermarks", "unknown"),
)

ORDER_FIELDS = ("subject", "who", "why", "until", "event_id", "dry_run", "approve", "yes", "unknown")
PATHS = (
    *("/v1/slices?subject=", "/v1/slices?x=", "/health?", "/v1/reports?", "/v2/"),
    *("/v1/slices?subject=ods@2024-06-02&as_of=", "/v1/catalog/ods?as_of=", "/v1/catalog/"),
)


def report(chance: random.Random) -> dict[str, Any]:
    """A report with up to three fields of it replaced by something else."""
    made: dict[str, Any] = {**GOOD, "event_id": str(chance.randrange(400))}
    made |= {"subject": chance.choice(SUBJECTS), "event": chance.choice(EVENTS)}
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        made[chance.choice(FIELDS)] = chance.choice(VALUES)
    if chance.random() < 0.05:
        made.pop(chance.choice(tuple(made)))
    return made


def random_body(chance: random.Random) -> bytes:
    """A body: mostly reports, sometimes cut, mixed up, or nested."""
    kind = chance.random()
    if kind < 0.05:
        return chance.randbytes(chance.randrange(200))
    if kind < 0.1:
        depth = chance.randrange(2_000)
        return f'{{"parameters": {"[" * depth}{"]" * depth}}}'.encode()
    value: Any = [report(chance) for _ in range(chance.randrange(5))] if kind < 0.4 else report(chance)
    body = json.dumps(value).encode()
    return body[: chance.randrange(len(body))] if kind > 0.95 else body


def order(chance: random.Random) -> dict[str, Any]:
    """An order of a backfill with up to two fields of it replaced by something else."""
    made: dict[str, Any] = {"subject": chance.choice(SUBJECTS), "dry_run": chance.random() < 0.5}
    for _ in range(chance.choice((0, 1, 1, 2))):
        made[chance.choice(ORDER_FIELDS)] = chance.choice(VALUES)
    return made


def send_backfill(client: Client, chance: random.Random) -> int:
    """A plan, or an action on what may be there; the status."""
    if chance.random() < 0.5:
        return client.ask("POST", "/v1/backfills", raw=json.dumps(order(chance)).encode())[0]
    number = chance.choice((*range(5), 99, -1, 1 << 31, 1 << 80, "x", "%00", ""))
    action = chance.choice(("approve", "pause", "resume", "cancel", "cancel?x=1", "none"))
    if chance.random() < 0.3:
        skip = chance.choice((0, 1, 1 << 31, -1, "x"))
        return client.ask("GET", f"/v1/backfills/{number}?skip={skip}", raw=b"")[0]
    return client.ask("POST", f"/v1/backfills/{number}/{action}", raw=random_body(chance))[0]


def send_one(client: Client, chance: random.Random) -> int:
    """The status of one request."""
    headers = {}
    if chance.random() < 0.05:
        name = chance.choice(("Host", "Origin", "Sec-Fetch-Site", "Content-Type", "Authorization"))
        headers[name] = chance.choice(
            ("evil.example", "http://evil.example", "cross-site", "", "text/plain", "Bearer x")
        )
    if chance.random() < 0.15:
        return send_backfill(client, chance)
    if chance.random() < 0.25:
        subject = str(chance.choice([value for value in (*VALUES, *SUBJECTS) if isinstance(value, str)]))
        asked = "".join(f"%{byte:02x}" for byte in subject.encode("utf-8", "surrogatepass"))
        path = chance.choice(PATHS) + asked
        return client.ask(chance.choice(("GET", "GET", "HEAD", "OPTIONS", "DELETE")), path, raw=b"", headers=headers)[0]
    path = chance.choice(("/v1/reports", "/v1/reports", "/v1/reports", "/v1/counts"))
    return client.ask("POST", path, raw=random_body(chance), headers=headers)[0]


def fuzz(client: Client, requests: int, seed: int, checked: Callable[[float], None]) -> dict[int, int]:
    """How often each status was answered; the state is compared after each request that was refused.

    `checked` gets the seconds of a processor that a request took: the machine has other work.
    """
    chance, counts = random.Random(seed), dict[int, int]()
    last = client.world.store.read.last()
    for _ in range(requests):
        begun = time.process_time()
        status = send_one(client, chance)
        checked(time.process_time() - begun)
        counts[status] = counts.get(status, 0) + 1
        assert 200 <= status < 300 or 400 <= status < 500
        now = client.world.store.read.last()
        assert now == last or status == 200
        last = now
    return counts


def assert_same_after_restart(client: Client) -> None:
    """A center that opens the store knows what this one knows."""
    again = client.world.open_center()
    assert dict(again.completed_slices()) == dict(client.world.center.completed_slices())
    assert again.ready() == client.world.center.ready()


@pytest.mark.slow
def test_a_thousand_requests(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=1e9)) as client:
        counts = fuzz(client, 1_000, random.randrange(1 << 30), lambda _: None)
        assert {200, 400, 403, 404, 405, 409, 415} <= set(counts), counts
        assert_same_after_restart(client)


@pytest.mark.long
def test_twenty_thousand_requests_none_over_two_seconds(tmp_path: Path) -> None:
    slowest = [0.0]
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=1e9)) as client:
        counts = fuzz(client, 20_000, 4711, lambda seconds: slowest.__setitem__(0, max(slowest[0], seconds)))
        assert {200, 400, 403, 404, 405, 409, 415} <= set(counts), counts
        assert_same_after_restart(client)
    assert slowest[0] < 2

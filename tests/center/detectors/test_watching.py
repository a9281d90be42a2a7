"""What those who watch over a service are told: whether it works, and its figures in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api.test_api import GOOD, TOKEN, Client
from tests.center.test_center import CHAIN, World
from tidemark.api.metrics import prometheus_text
from tidemark.api.server import served
from tidemark.state_store.lease import CENTER, Fence

if TYPE_CHECKING:
    from pathlib import Path

STATUS: dict[str, Any] = {
    "active": True,
    "holder": "center here:1",
    "launched": 12,
    "seconds_since_turn": 0.25,
    "pool": {"ready": 2, "crashed": 1},
}


def test_each_number_is_a_metric_and_texts_are_none() -> None:
    assert prometheus_text(STATUS).splitlines() == [
        "# TYPE tidemark_center_active gauge",
        "tidemark_center_active 1",
        "# TYPE tidemark_center_launched_total counter",
        "tidemark_center_launched_total 12",
        "# TYPE tidemark_center_seconds_since_turn gauge",
        "tidemark_center_seconds_since_turn 0.25",
        "# TYPE tidemark_center_pool_ready gauge",
        "tidemark_center_pool_ready 2",
        "# TYPE tidemark_center_pool_crashed_total counter",
        "tidemark_center_pool_crashed_total 1",
    ]


@pytest.mark.parametrize(("idle", "code"), [(0.25, 200), (61.0, 503)])
def test_health_needs_no_token_and_figures_do(tmp_path: Path, idle: float, code: int) -> None:
    told = {**STATUS, "seconds_since_turn": idle}
    world = World(tmp_path, **CHAIN)
    with served(world.center, 0, token=TOKEN, status=lambda: told) as url:
        client = Client(world, int(url.rpartition(":")[2]))
        assert client.ask("GET", "/health", token=None) == (code, {"healthy": code == 200, "active": True})
        assert client.ask("GET", "/metrics", token=None)[0] == 401
        assert client.ask("GET", "/metrics") == (200, prometheus_text(told))


def test_one_that_stands_by_takes_no_report(tmp_path: Path) -> None:
    world = World(tmp_path, **CHAIN)
    world.store.write.fence = Fence(CENTER, 0, "")
    with served(world.center, 0) as url:
        client = Client(world, int(url.rpartition(":")[2]))
        status, refused = client.report(GOOD)
        assert (status, refused["error"]["message"]) == (503, "another center is active")
        assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02")[0] == 200
    assert world.store.read.last() == 0

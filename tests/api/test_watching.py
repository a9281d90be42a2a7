"""The monitoring of a service: whether it works, and its metrics in Prometheus' format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.api.client import GOOD, TOKEN, Client
from tests.center.test_center import CHAIN, CenterWorld
from tidemark.api.metrics import Metrics
from tidemark.api.options import ApiOptions
from tidemark.api.report_quota import ReportQuota
from tidemark.api.server import serve_in_thread
from tidemark.center.latency import Latency
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.fence import Fence
from tidemark.state_store.lease import CENTER
from tidemark.system.http_guard import BodyQuota

if TYPE_CHECKING:
    from pathlib import Path

STATUS: dict[str, Any] = {
    "active": True,
    "holder": "center here:1",
    "launched": 12,
    "seconds_since_tick": 0.25,
    "warm_workers": {"ready": 2, "crashed": 1},
}


def test_each_number_is_a_metric_and_texts_are_none() -> None:
    lines = Metrics(lambda: STATUS, Latency(), BodyQuota(), ReportQuota()).text().decode().splitlines()
    assert [line for line in lines if line.startswith("tidemark_center") and "_seconds_" not in line] == [
        "tidemark_center_active 1.0",
        "tidemark_center_launched_total 12.0",
        "tidemark_center_warm_workers_ready 2.0",
        "tidemark_center_warm_workers_crashed_total 1.0",
    ]
    assert "# TYPE tidemark_center_launched_total counter" in lines
    assert "tidemark_center_seconds_since_tick 0.25" in lines


@pytest.mark.parametrize(("troubles", "code"), [([], 200), (["no tick has succeeded for 61 s"], 503)])
def test_health_needs_no_token_and_figures_do(tmp_path: Path, troubles: list[str], code: int) -> None:
    healthy = {"healthy": not troubles, "troubles": troubles}
    figures = {**STATUS, **healthy}
    world = CenterWorld(tmp_path, **CHAIN)
    with serve_in_thread(world.center, world.forecast(), ApiOptions(token=TOKEN), status=lambda: figures) as url:
        client = Client(world, url)
        assert client.ask("GET", "/health", token=None) == (code, {**healthy, "active": True})
        assert client.ask("GET", "/metrics", token=None)[0] == 401
        status, text = client.ask("GET", "/metrics")
        assert (status, f"tidemark_center_healthy {float(not troubles)}" in text) == (200, True)


def test_latencies_are_histograms(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    with serve_in_thread(world.center, world.forecast(), ApiOptions(token=TOKEN)) as url:
        client = Client(world, url)
        client.report(GOOD)
        client.report(GOOD)
        client.ask("GET", "/nowhere")
        world.center.latency.note_launch(world.center.ready())
        text = client.ask("GET", "/metrics")[1]
    assert 'tidemark_http_request_seconds_count{method="POST",path="/v1/reports",status="200"} 2.0' in text
    assert 'tidemark_http_request_seconds_count{method="GET",path="other",status="404"} 1.0' in text
    assert "tidemark_center_fact_to_decision_seconds_count 1.0" in text
    assert "tidemark_center_decision_to_launch_seconds_count 1.0" in text


def test_a_released_slice_is_launched_once() -> None:
    now = [0.0]
    latency = Latency(lambda: now[0])
    latency.note_release(Slice("ods", "2024-06-02"))
    now[0] = 3.0
    for _ in range(2):
        latency.note_launch([Slice("ods", "2024-06-02"), Slice("ods", "2024-06-03")])
    (metric,) = latency.decision_to_launch.collect()
    assert {sample.name: sample.value for sample in metric.samples if sample.name.endswith(("_sum", "_count"))} == {
        "tidemark_center_decision_to_launch_seconds_sum": 3.0,
        "tidemark_center_decision_to_launch_seconds_count": 1.0,
    }


def test_one_that_stands_by_takes_no_report(tmp_path: Path) -> None:
    world = CenterWorld(tmp_path, **CHAIN)
    world.store.write.fence = Fence(CENTER, 0, "")
    with serve_in_thread(world.center, world.forecast(), ApiOptions()) as url:
        client = Client(world, url)
        status, refused = client.report(GOOD)
        assert (status, refused["error"]["message"]) == (503, "another center is active")
        assert client.ask("GET", "/v1/slices?subject=ods@2024-06-02")[0] == 200
        with pytest.raises(HTTPError) as told:
            urlopen(_report_to(url), timeout=30)  # noqa: S310 - our own server
    assert (told.value.code, told.value.headers["Retry-After"], told.value.headers["Connection"]) == (503, "1", "close")
    told.value.close()
    assert world.store.read.last() == 0


def _report_to(url: str) -> Request:
    body = json.dumps(GOOD).encode()
    return Request(f"{url}/v1/reports", body, {"Content-Type": "application/json"})  # noqa: S310 - our own server

"""Reports pay for what they store, and one slice takes few."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import GOOD, serving
from tidemark.api.errors import ReportQuotaError
from tidemark.api.report_quota import ReportQuota
from tidemark.api.request_limits import TokenBuckets
from tidemark.center.detectors.external_report import facts_of
from tidemark.system.caller import Caller

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.graph import DependencyGraph

CALLER = Caller("anonymous", "", "127.0.0.1")
LONG = {"parameters": {"text": "x" * 60_000}}
MANY = {"subject": "table=ods&&dt=20240601..20240630"}


class World:
    """A quota of one caller, whose clock stands, for reports to a center's graph."""

    def __init__(self, graph: DependencyGraph, rate: float) -> None:
        self._graph, self.now = graph, 0.0
        self.quota = ReportQuota(TokenBuckets(rate, lambda: self.now), lambda: self.now)

    def report(self, **changed: Any) -> None:
        self.quota.take(CALLER, facts_of(json.dumps({**GOOD, **changed}).encode(), self._graph))

    def reports(self, most: int, **changed: Any) -> int:
        """How many of `most` are accepted until one is refused."""
        for number in range(most):
            try:
                self.report(**changed)
            except ReportQuotaError:
                return number
        return most


def test_a_short_report_of_many_slices_costs_a_caller_nothing_more(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        world = World(client.world.center.graph, rate=1.0)
        assert world.reports(100, **MANY) == 100


def test_a_long_report_of_many_slices_costs_what_it_stores(tmp_path: Path) -> None:
    """60 kB for 30 slices are 29 copies more, of 14 units each."""
    with serving(tmp_path) as client:
        world = World(client.world.center.graph, rate=50.0)
        assert world.reports(10, **MANY, **LONG) == 1
        world.now = 6.0
        assert world.reports(10, **MANY, **LONG) == 0
        world.now = 7.0
        assert world.reports(10, **MANY, **LONG) == 1
        assert world.quota.callers.refused == 3


def test_one_slice_has_a_quota_of_its_own(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        world = World(client.world.center.graph, rate=1e9)
        assert world.reports(1_001) == 1_000
        assert world.reports(1, subject="table=ods&&dt=20240603") == 1
        with pytest.raises(ReportQuotaError, match="one every 5 s"):
            world.report()
        world.now = 50.0
        assert world.reports(11) == 10
        assert world.quota.slices.refused == 3


def test_refused_reports_are_answered_with_429_and_counted(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        several = [{**GOOD, "event_id": str(number), **LONG} for number in range(100)]
        assert [client.report(several)[0] for _ in range(2)] == [200, 429]
        before = client.world.store.read.last()
        status, answer = client.report({**GOOD, "event_id": "later"})
        assert (status, answer["error"]["message"]) == (429, "too many reports")
        assert client.world.store.read.last() == before
        _, text = client.ask("GET", "/metrics")
        assert 'tidemark_http_refused_total{limit="slice"} 2.0' in text
        assert "tidemark_http_body_bytes 4.0" in text, "that of this request: null"

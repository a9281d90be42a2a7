"""Metrics in Prometheus' text format: the service's figures, and histograms of latency, in a separate registry."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping

    from prometheus_client.metrics_core import Metric

    from tidemark.api.report_quota import ReportQuota
    from tidemark.center.latency import Latency
    from tidemark.system.http_guard import AsgiApp, BodyQuota, Receive, Scope, Send

    StatusOf = Callable[[], Mapping[str, Any]]

_PREFIX: Final = "tidemark_center"
_COUNTERS: Final = frozenset({"ticks", "facts", "launched", "errors", "taken", "ended", "crashed", "replaced"})
_UNKNOWN_PATH: Final = "other"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class Metrics:
    """The registry of one server, and the duration of its requests."""

    def __init__(self, status: StatusOf, latency: Latency, bodies: BodyQuota, reports: ReportQuota) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_LimitsCollector(bodies, reports))
        self._registry.register(_StatusCollector(status))
        self._registry.register(latency.fact_to_decision)
        self._registry.register(latency.decision_to_launch)
        self.http = Histogram(
            "tidemark_http_request_seconds",
            "Duration of an HTTP request, including its body.",
            ["method", "path", "status"],
            registry=self._registry,
        )

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class _StatusCollector(Collector):
    """Every number of the status as a metric, nested ones as `tidemark_center_warm_workers_...`, without texts."""

    def __init__(self, status: StatusOf) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        yield from _families(_PREFIX, self._status())

    def describe(self) -> list[Metric]:
        """Returns no metrics, so that the status is not read before a scrape."""
        return []


class _LimitsCollector(Collector):
    """The use of the limits on bodies and reports, and the refused requests by limit."""

    def __init__(self, bodies: BodyQuota, reports: ReportQuota) -> None:
        self._bodies, self._reports = bodies, reports

    def collect(self) -> Iterator[Metric]:
        said = "Bytes of bodies that are received or processed now."
        yield GaugeMetricFamily("tidemark_http_body_bytes", said, value=float(self._bodies.taken))
        refused = CounterMetricFamily("tidemark_http_refused", "Requests refused by a limit.", labels=["limit"])
        counts = {
            "bodies": self._bodies.refused,
            "writes": self._reports.callers.refused,
            "slice": self._reports.slices.refused,
        }
        for name, count in counts.items():
            refused.add_metric([name], float(count))
        yield refused


def _families(prefix: str, status: Mapping[str, Any]) -> Iterator[Metric]:
    for name, value in status.items():
        if isinstance(value, dict):
            yield from _families(f"{prefix}_{name}", value)
        elif isinstance(value, int | float):
            family = CounterMetricFamily if name in _COUNTERS else GaugeMetricFamily
            yield family(f"{prefix}_{name}", name.replace("_", " "), value=float(value))


class TimedRequests:
    """An ASGI application around another one that measures each request. Undeclared paths count as `other`."""

    def __init__(self, app: AsgiApp, http: Histogram, paths: Collection[str]) -> None:
        self._app, self._http, self._paths = app, http, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, statuses = time.monotonic(), ["none"]

        async def noted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses[0] = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            path = scope["path"] if scope["path"] in self._paths else _UNKNOWN_PATH
            method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN_PATH
            self._http.labels(method, path, statuses[0]).observe(time.monotonic() - begun)

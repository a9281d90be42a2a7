"""The demo's work: land, capture, compute, step by step. Killed and started again it goes on."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from console.demo.feed import Feed
from console.demo.memory import PeakMemory
from sensors.dependency_center.dispatcher import Dispatcher
from sensors.dependency_center.engine import Engine
from warehouse_assets.definitions import build_definitions
from warehouse_assets.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    import dagster as dg

    from console.demo.display import Display
    from dependency_model.slice import Slice
    from resources.capture.report import IngestReport
    from warehouse_assets.warehouse import Warehouse

HOST: Final = "demo"
HOURS_A_STEP: Final = 6
# The first events past a boundary are what closes it: heartbeats come once a minute.
GRACE: Final = timedelta(minutes=2)


@dataclass(frozen=True)
class ReplayResult:
    """What one pass over the recording did."""

    changes: int
    computed: int
    failed: tuple[Slice, ...]
    seconds: float
    peak_rss_mb: float


class Replay:
    """One warehouse, one recording."""

    def __init__(self, warehouse: Warehouse, sample: Path, instance: dg.DagsterInstance, end: datetime) -> None:
        self.warehouse = warehouse
        self.runtime = Runtime(warehouse)
        self._sample = sample
        self._instance = instance
        self._end = end

    def expected(self) -> int:
        """How many slices there are to compute."""
        graph = self.warehouse.graph
        return sum(1 for name in self.warehouse.entities for _ in graph.slices(name, until=self._end))

    def run(self, open_display: Callable[[int], Display]) -> ReplayResult:
        """Replay everything that is not done yet."""
        started = time.monotonic()
        dispatcher = Dispatcher(self.warehouse, build_definitions(self.warehouse), self._instance, HOST)
        engine = Engine(self.warehouse, self.runtime.registry, dispatcher)
        feed = Feed(self._sample, self.warehouse.settings.landing)
        with PeakMemory() as memory, open_display(self.expected() - len(engine.tracker.completed)) as display:
            changes, computed = self._steps(engine, feed, display)
        return ReplayResult(
            changes,
            computed,
            tuple(sorted(engine.tracker.failed, key=str)),
            time.monotonic() - started,
            memory.megabytes,
        )

    def _steps(self, engine: Engine, feed: Feed, display: Display) -> tuple[int, int]:
        """Capture one step ahead of the computing, as a stream does: each keeps one core busy."""
        changes = computed = 0
        display.say("starting Spark (half a minute the first time)")
        moments = self.moments()
        with ThreadPoolExecutor(1, thread_name_prefix="capture") as pool:
            ahead = pool.submit(self._capture, feed, moments[0])
            for moment, following in zip_longest(moments, moments[1:]):
                landed, report = ahead.result()
                if following:
                    ahead = pool.submit(self._capture, feed, following)
                changes += landed
                self._tell(display, moment, landed, report)
                computed += engine.run_ready(display)
        return changes, computed

    def _capture(self, feed: Feed, moment: datetime) -> tuple[int, IngestReport]:
        return feed.land(moment + GRACE), self.runtime.ingestion.step()

    def _tell(self, display: Display, moment: datetime, landed: int, report: IngestReport) -> None:
        for warning in report.warnings:
            display.say(warning)
        display.waiting([str(one) for one in report.waiting])
        if landed:
            local = moment.astimezone(ZoneInfo(self.warehouse.settings.time_zone))
            display.say(f"{local:%a %d %b %H:%M}: {landed} changes came in, {len(report.closed)} snapshots named")

    def moments(self) -> list[datetime]:
        """When the replay pauses to compute: the end of each day, and of each sixth hour where hours are computed."""
        ends: set[datetime] = set()
        graph = self.warehouse.graph
        for name, entity in self.warehouse.entities.items():
            if entity.source and str(entity.period) == "day":
                ends.update(graph.window(slice_).end for slice_ in graph.slices(name, until=self._end))
            elif entity.snapshot_of and str(entity.period) == "hour":
                hours = [graph.window(slice_).end for slice_ in graph.slices(name, until=self._end)]
                ends.update(hours[HOURS_A_STEP - 1 :: HOURS_A_STEP])
        return sorted(ends)

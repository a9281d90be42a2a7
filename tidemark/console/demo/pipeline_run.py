"""The work of the demo: land, capture, compute, step by step. After a kill, the next run continues."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, Queue
from typing import TYPE_CHECKING, Final

from tidemark.center.in_process_host import InProcessHost
from tidemark.compute.runtime import Runtime
from tidemark.console.demo.ad_partner_process import AdPartner
from tidemark.console.demo.change_feed import ChangeFeed
from tidemark.console.demo.resource_usage import Usage
from tidemark.dagster.definitions import build_definitions
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    import dagster as dg

    from tidemark.console.demo.progress_display import Display
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

HOST: Final = "demo"
HOURS_A_STEP: Final = 6
# A boundary is closed by the first events after it: heartbeats come once a minute.
GRACE: Final = timedelta(minutes=2)
# The last midnight of a day is in the westernmost region.
REGIONS_END: Final = timedelta(hours=12)
OUTSIDE_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True)
class ReplayResult:
    """Results of one pass over the recording."""

    changes: int
    computed: int
    failed: tuple[Slice, ...]
    seconds: float
    peak_rss_mb: float
    cpu_seconds: float


class DemoReplay:
    """One warehouse and one recording."""

    def __init__(self, warehouse: Warehouse, sample: Path, instance: dg.DagsterInstance, end: datetime) -> None:
        self.warehouse = warehouse
        self.runtime = Runtime(warehouse)
        self._sample = sample
        self._instance = instance
        self._end, self._last = end, (end - timedelta(days=1)).date()

    def expected_count(self) -> int:
        """Number of slices to compute."""
        return sum(1 for name in self.warehouse.entities for _ in self._slices(name))

    def probed_slices(self) -> list[Slice]:
        """Slices that probes look for."""
        probed = [name for name, entity in self.warehouse.entities.items() if entity.probe is not None]
        return [slice_ for name in probed for slice_ in self._slices(name)]

    def _slices(self, name: str) -> Iterator[Slice]:
        """Slices that begin within the recorded time, in all regions."""
        graph = self.warehouse.graph
        for slice_ in graph.slices(name, until=self._end + REGIONS_END):
            if graph.window(slice_).start < self._end:
                yield slice_

    def run(self, open_display: Callable[[int], Display], first_look: Callable[[], None]) -> ReplayResult:
        """Replay everything that is not done yet; `first_look` is called when the first day is computed."""
        started = time.monotonic()
        job = build_definitions(self.warehouse).resolve_implicit_global_asset_job_def()
        host = InProcessHost(self.warehouse, job, self._instance, HOST)
        feed = ChangeFeed(self._sample, self.warehouse.settings.landing)
        done = _completed(host)
        partner = AdPartner(self.warehouse, self._last)
        with Usage() as usage, open_display(self.expected_count() - done) as display, partner:
            changes = self._steps(host, feed, partner, display, first_look)
        return ReplayResult(
            changes,
            _completed(host) - done,
            tuple(sorted(host.center.failed_slices(), key=str)),
            time.monotonic() - started,
            usage.megabytes,
            usage.cpu_seconds,
        )

    def _steps(
        self,
        host: InProcessHost,
        feed: ChangeFeed,
        partner: AdPartner,
        display: Display,
        first_look: Callable[[], None],
    ) -> int:
        """The first day alone, to show results early; then the other days, with many slices in a run."""
        dispatch = host.dispatch(display)
        display.say("starting Spark (half a minute the first time)")
        first, *others = self.moments()

        def capture(moment: datetime) -> int:
            partner.pass_time(moment)
            return self._capture(feed, moment, display)

        def compute() -> None:
            host.run_ready(dispatch)

        changes = compute_while_capturing([first], capture, compute)
        first_look()
        changes += compute_while_capturing(others, capture, compute)
        partner.pass_time(self._end + REGIONS_END)
        self._wait_for_outside(host, compute)
        return changes

    def _wait_for_outside(self, host: InProcessHost, compute: Callable[[], None]) -> None:
        """Compute until the probes, which run in another thread, have seen all external data of the recorded time."""
        host.count_records()
        waiting = self.probed_slices()
        deadline = time.monotonic() + OUTSIDE_SECONDS
        while waiting and time.monotonic() < deadline:
            compute()
            waiting = [slice_ for slice_ in waiting if not host.is_complete(slice_)]
            time.sleep(_PAUSE_SECONDS if waiting else 0.0)
        compute()

    def _capture(self, feed: ChangeFeed, moment: datetime, display: Display) -> int:
        """Capture everything up to a moment, and report it; returns the number of changes."""
        landed, report = feed.land(moment + GRACE), self.runtime.ingestion.step()
        for warning in report.warnings:
            display.say(warning)
        display.waiting([str(snapshot) for snapshot in report.waiting])
        if landed:
            local = moment.astimezone(zone_info(self.warehouse.settings.time_zone))
            display.say(f"{local:%a %d %b %H:%M}: {landed} changes came in, {len(report.closed)} snapshots tagged")
        return landed

    def moments(self) -> list[datetime]:
        """Pauses of the replay to compute: the end of each day, and every sixth hour on days with hourly slices."""
        ends: set[datetime] = set()
        graph = self.warehouse.graph
        for name, entity in self.warehouse.entities.items():
            if entity.source and str(entity.period) == "day":
                ends.update(graph.window(slice_).end for slice_ in graph.slices(name, until=self._end))
            elif entity.snapshot_of and str(entity.period) == "hour":
                hours = [graph.window(slice_).end for slice_ in graph.slices(name, until=self._end)]
                ends.update(hours[HOURS_A_STEP - 1 :: HOURS_A_STEP])
        return sorted(ends)


def compute_while_capturing(
    moments: Sequence[datetime], capture: Callable[[datetime], int], compute: Callable[[], None]
) -> int:
    """Capture continues like a stream, and slices that become ready are computed together.

    Returns the number of captured changes.
    """
    changes, waiting = 0, len(moments)
    arrived: Queue[Future[int]] = Queue()
    with ThreadPoolExecutor(1, thread_name_prefix="capture") as pool:
        for moment in moments:
            pool.submit(capture, moment).add_done_callback(arrived.put)
        try:
            while waiting:
                for future in _all_of(arrived):
                    waiting -= 1
                    changes += future.result()
                compute()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return changes


def _completed(host: InProcessHost) -> int:
    return sum(1 for _ in host.center.completed_slices())


def _all_of(arrived: Queue[Future[int]]) -> list[Future[int]]:
    """All items that have arrived; waits for at least one."""
    futures = [arrived.get()]
    with suppress(Empty):
        while True:
            futures.append(arrived.get_nowait())
    return futures

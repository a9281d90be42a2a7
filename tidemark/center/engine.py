"""The engine that the demo drives: arrived snapshots in, runs of everything that is ready out, until nothing is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from tidemark.center.center import DependencyCenter
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.snapshots import SnapshotDetector
from tidemark.center.dispatcher import Progress
from tidemark.center.grouping import RunGroup, group_ready
from tidemark.center.host import first_start
from tidemark.center.tracker import SliceTracker
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from tidemark.center.dispatcher import Dispatcher
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.warehouse.warehouse import Warehouse


class Watcher(Protocol):
    """Is told what happens; the console draws it."""

    def run_started(self, group: RunGroup) -> None: ...
    def step(self, progress: Progress, entity: str, slices: tuple[Slice, ...]) -> None: ...


class Engine:
    """A center that is driven directly: what is ready runs at once, in this process.

    What others ran meanwhile (the UI, a process that was killed) is read from Dagster's event log first.
    """

    def __init__(self, warehouse: Warehouse, registry: SnapshotRegistry, dispatcher: Dispatcher) -> None:
        self._graph = warehouse.graph
        self._dispatcher = dispatcher
        store = StateStore.of(warehouse.settings)
        since = first_start(warehouse)
        self.center = DependencyCenter(
            self._graph, store, since=since, clock=lambda: datetime.now(UTC), who=dispatcher.host
        )
        self.tracker = SliceTracker(self.center)
        self._snapshots = SnapshotDetector(registry, self.center, store.read)
        dispatcher.close_interrupted()
        EventLogDetector(dispatcher.instance, self.center, store.read).poll()
        self.tracker.retry(sorted(self.tracker.failed), f"start {datetime.now(UTC).isoformat()}")

    def run_ready(self, watcher: Watcher) -> int:
        """Run until nothing is ready; returns the number of slices computed."""
        self._snapshots.poll()
        self.center.tick()
        computed = 0
        while groups := group_ready(self._graph, self.tracker):
            for group in groups:
                computed += self._run(group, watcher)
        return computed

    def _run(self, group: RunGroup, watcher: Watcher) -> int:
        watcher.run_started(group)
        computed = 0
        failed: list[Slice] = []
        for progress, entity, slices, run_id in self._dispatcher.execute(group):
            watcher.step(progress, entity, slices)
            if progress is Progress.STARTED:
                self.tracker.start(slices, run_id)
            elif progress is Progress.COMPLETED:
                self.tracker.complete(slices, run_id)
                computed += len(slices)
            else:
                self.tracker.fail(slices, run_id)
                failed += slices
        self._try_alone(group, failed)
        return computed

    def _try_alone(self, group: RunGroup, failed: list[Slice]) -> None:
        """What failed alone has failed; in company only one slice of a step may be to blame, so each is tried alone."""
        if failed and len(group.keys) > 1:
            self.tracker.in_company.update(group.keys)
            self.tracker.retry(failed, f"alone {datetime.now(UTC).isoformat()}")

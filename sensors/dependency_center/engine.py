"""The engine that the demo drives: arrived snapshots in, runs of everything that is ready out, until nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from dependency_model.slice import Slice
from sensors.dependency_center.dispatcher import Progress
from sensors.dependency_center.grouping import RunGroup, group_ready
from sensors.dependency_center.tracker import SliceTracker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dependency_model.graph import DependencyGraph
    from resources.state_store.registry import SnapshotRegistry
    from sensors.dependency_center.dispatcher import Dispatcher
    from warehouse_assets.warehouse import Warehouse


class Watcher(Protocol):
    """Is told what happens; the console draws it."""

    def run_started(self, group: RunGroup) -> None: ...
    def step(self, progress: Progress, entity: str, slices: tuple[Slice, ...]) -> None: ...


class Engine:
    """Knows what is complete from Dagster's event log and the snapshots' names; starts what is ready, once."""

    def __init__(self, warehouse: Warehouse, registry: SnapshotRegistry, dispatcher: Dispatcher) -> None:
        self._warehouse = warehouse
        self._registry = registry
        self._dispatcher = dispatcher
        dispatcher.close_interrupted()
        self.tracker = SliceTracker(self._graph, dispatcher.completed())

    @property
    def _graph(self) -> DependencyGraph:
        return self._warehouse.graph

    def run_ready(self, watcher: Watcher) -> int:
        """Run until nothing is ready; returns the number of slices computed."""
        for slice_ in self._named():
            self.tracker.arrive(slice_)
        computed = 0
        while groups := group_ready(self._graph, self.tracker):
            for group in groups:
                computed += self._run(group, watcher)
        return computed

    def _named(self) -> Iterable[Slice]:
        for name, entity in self._warehouse.entities.items():
            if self._warehouse.is_snapshot(name):
                yield from (Slice(name, one.slice) for one in self._registry.of(name, str(entity.period)))

    def _run(self, group: RunGroup, watcher: Watcher) -> int:
        watcher.run_started(group)
        completed: set[Slice] = set()
        for progress, entity, slices in self._dispatcher.execute(group):
            watcher.step(progress, entity, slices)
            if progress is Progress.COMPLETED:
                completed.update(slices)
                for slice_ in slices:
                    self.tracker.complete(slice_)
        self._set_aside(group, [one for one in group.slices() if one not in completed])
        return len(completed)

    def _set_aside(self, group: RunGroup, failed: list[Slice]) -> None:
        """What failed alone has failed; in company only one slice of a step may be to blame, so each is tried alone."""
        if failed and len(group.keys) > 1:
            self.tracker.in_company.update(group.keys)
            return
        for slice_ in failed:
            self.tracker.fail(slice_)

"""The crawl of one center (C8), under its lease, beside its tick."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.detectors.counted_tables import CountedTables
from tidemark.center.detectors.late_counts import LateCountsDetector
from tidemark.center.detectors.observed_in_dagster import MaterializedAssets, show_observation
from tidemark.center.detectors.outside import OutsideDetector
from tidemark.crawl.all_probes import look_at
from tidemark.crawl.bounded_sight import bounded
from tidemark.crawl.crawler import Crawler
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
from tidemark.dependency_model.arrival.circuit_breaker import CircuitState
from tidemark.state_store.record_counts import RecordCounts
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.dagster_partition_keys import slice_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import dagster as dg

    from tidemark.center.center import DependencyCenter
    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.crawl.probed_slice import CountedRecords, Materializations
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.system.table_location import TableLocation

_MOST_SHOWN: Final = 10_000
"""Most slices remembered as shown; further ones may be shown twice."""


def look_once(
    graph: DependencyGraph,
    slice_: Slice,
    secrets: ConnectionSecrets,
    assets: Materializations,
    counts: CountedRecords,
) -> Sight:
    """The current result of the entity's probe. Raises TidemarkError, with masked secrets."""
    probe = graph.entity(slice_.entity).probe
    if probe is None:
        raise ProbeError("the entity has no probe", found=slice_.entity)
    context = ProbeContext(secrets, utc_now, assets, counts, probe.timeout_seconds)
    return bounded(look_at(probe, ProbedSlice.of(graph, slice_), context))


def newest_slice(graph: DependencyGraph, entity: str, now: datetime) -> Slice:
    """The slice of an external entity that ended last. Raises ProbeError if none has ended."""
    if graph.entity(entity).is_static:
        return slice_of(graph.entity(entity), None)
    newest = max(graph.slices(entity, now), key=lambda slice_: graph.window(slice_).end, default=None)
    if newest is None:
        raise ProbeError(f"no slice of {entity} has ended yet")
    return newest


class OutsideWorld:
    """A crawler, its detector, and the threads of the probes."""

    def __init__(
        self,
        center: DependencyCenter,
        store: StateStore,
        secrets: ConnectionSecrets,
        path_of: Callable[[str], TableLocation],
    ) -> None:
        self._center, self._database, self._secrets = center, store.database, secrets
        self._assets: MaterializedAssets | None = None
        self._counts = RecordCounts(store.database)
        self._late = LateCountsDetector(self._counts, center, store.read, self._look)
        self.counting = CountedTables(self._entities, path_of, self._counts, self._secrets, utc_now)
        self._detector = self._new_detector()
        self._lacking: SimpleQueue[tuple[Slice, Sight]] = SimpleQueue()
        self._shown: dict[Slice, str] = {}

    def poll(self, instance: dg.DagsterInstance) -> int:
        """See OutsideDetector.poll and LateCountsDetector.poll."""
        if self._assets is None:
            self._assets = MaterializedAssets(instance)
        self._assets.instance = instance
        self.counting.poll()
        self._show_lacking(instance)
        return self._detector.poll(instance) + self._late.poll()

    def _entities(self) -> list[Entity]:
        return [self._center.graph.entity(name) for name in self._center.graph]

    def begin_anew(self) -> None:
        """Another center may have been active: read the watched slices from the store again."""
        self._detector = self._new_detector()

    def figures(self) -> dict[str, Any]:
        """Figures of the crawl: counts, and the number of systems with an open circuit breaker."""
        crawler = self._detector.crawler
        return {
            "watched": len(crawler),
            "looks": crawler.figures.looks,
            "failures": crawler.figures.failures,
            "tables_not_counted": len(self.counting.troubles),
            "systems_not_answering": sum(
                system.breaker.state is not CircuitState.CLOSED for system in crawler.systems.values()
            ),
        }

    def _new_detector(self) -> OutsideDetector:
        return OutsideDetector(Crawler(self._look, self._run), self._center, self._database, utc_now)

    def _look(self, slice_: Slice) -> Sight:
        if self._assets is None:
            raise ProbeError("there is no Dagster storage yet")
        sight = look_once(self._center.graph, slice_, self._secrets, self._assets, self._counts)
        if sight.figures and not sight.is_there:
            self._lacking.put((slice_, sight))
        return sight

    def _show_lacking(self, instance: dg.DagsterInstance) -> None:
        """Observations for windows with final counts that differ, once for each count."""
        for slice_, sight in _newest_of(self._lacking).items():
            if self._shown.get(slice_) != sight.content:
                if len(self._shown) >= _MOST_SHOWN:
                    self._shown.clear()
                self._shown[slice_] = sight.content
                show_observation(instance, self._center.graph.entity(slice_.entity), slice_, sight, (), is_new=False)

    def _run(self, slice_: Slice, work: Callable[[], None]) -> None:
        """Runs in a daemon thread; Dagster's storage is used by the thread that opened it."""
        if _asks_dagster(self._center.graph.entity(slice_.entity)):
            work()
        else:
            Thread(target=work, name=f"probe {slice_}", daemon=True).start()


def _newest_of(queue: SimpleQueue[tuple[Slice, Sight]]) -> dict[Slice, Sight]:
    """The last sight of each slice since its request."""
    newest: dict[Slice, Sight] = {}
    with suppress(Empty):
        while True:
            slice_, sight = queue.get_nowait()
            newest[slice_] = sight
    return newest


def _asks_dagster(entity: Entity) -> bool:
    return entity.probe is not None and entity.probe.dagster is not None

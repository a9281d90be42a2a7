"""One tick of every host: events of Dagster, the capture, external systems and the clock."""

from __future__ import annotations

import os
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final

from tidemark.catalog.slice_counts import note_counts
from tidemark.center.backfills import BackfillDriver
from tidemark.center.center import DependencyCenter
from tidemark.center.detectors.dagster_backfills import DagsterBackfillDetector
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.detectors.snapshots import SnapshotDetector
from tidemark.center.detectors.storage import StorageDetector
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.center.old_runs import OldRuns
from tidemark.center.outside_world import OutsideWorld
from tidemark.center.validity_checks import ValidityChecks
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.dagster_internals.step_output_files import remove_step_logs
from tidemark.engines.iceberg.iceberg_tables import IcebergTables
from tidemark.engines.slices_table import SlicesTable
from tidemark.state_store.audit_log import AuditLog
from tidemark.state_store.compaction import compact
from tidemark.state_store.rule_results import RuleResults
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore
from tidemark.system.due_times import DueTimes
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.center_fence import LOOK_SECONDS, CenterFence, flow_troubles
from tidemark.warm_runs.lost_runs import LostRuns
from tidemark.warm_runs.worker_options import DEFAULT_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import dagster as dg

    from tidemark.warehouse.warehouse import Warehouse

EVENT_LOG: Final = "event log"
DECIDE: Final = "decide"
_SLICES: Final = "table of slices"
_ICEBERG: Final = "Iceberg metadata"
_TERMS: Final = "terms of centers"
_NOTED_SECONDS: Final = 3_600.0
_COMPACTED_SECONDS: Final = 600.0
_COMPACTED_AT_ONCE: Final = 10_000
_LOGS_AT_ONCE: Final = 500
_RUNS_SECONDS: Final = 20.0
RUNS_AT_ONCE: Final = 100
"""Old runs to remove at once: up to 432,000 a day."""
_WIPED_SECONDS: Final = 60.0
_STORAGE_SECONDS: Final = 10.0
_SLICES_SECONDS: Final = 60.0
_ICEBERG_SECONDS: Final = 10.0
_STORAGE_AT_ONCE: Final = 1.0
"""Seconds after which no further table is checked; the next check continues there."""


class CenterTick:
    """The center with its detectors; `who` names it in the transitions."""

    def __init__(self, warehouse: Warehouse, who: str) -> None:
        self.store = StateStore.of(warehouse.settings)
        self.center = DependencyCenter(
            warehouse.graph, self.store, since=first_start(warehouse), clock=utc_now, who=who
        )
        self.backfills = BackfillDriver(self.center, utc_now)
        self.refused = RefusedEvents(utc_now)
        self._begun_in_dagster = DagsterBackfillDetector(self.center, utc_now, self.refused)
        registry = SnapshotRegistry(self.store.database)
        self._snapshots = SnapshotDetector(registry, self.center, self.store.read, warehouse.table_path)
        secrets = ConnectionSecrets.of(warehouse.settings, os.environ)
        self.outside = OutsideWorld(self.center, self.store, secrets, warehouse.table_path)
        self._storage = StorageDetector(warehouse, self.center, self.store)
        self._slices = BackgroundStep(_SLICES, SlicesTable(warehouse, self.store.database).keep)
        self._iceberg = BackgroundStep(_ICEBERG, IcebergTables(warehouse, self.store.database).keep)
        self._old_runs = OldRuns(warehouse, self.store)
        self._validity = ValidityChecks(self.center)
        self._events: EventLogDetector | None = None
        is_shared = bool(warehouse.settings.state)
        self._lost = LostRuns(self.store.database, DEFAULT_OPTIONS.wait_told_seconds) if is_shared else None
        self._flows = {entity.name: entity.center for entity in warehouse.entities.values() if entity.center}
        self._holders, self.fence = (
            warehouse.holders,
            CenterFence(warehouse.settings, self.store.database, is_watched=True),
        )
        self._terms = BackgroundStep(_TERMS, partial(self.fence.refresh, sorted(warehouse.holders)))
        self._due = DueTimes()
        self.isolated = IsolatedSteps()
        self._history = timedelta(days=warehouse.settings.history_days)
        self._audited = timedelta(days=warehouse.settings.audit_days)

    def tick(self, instance: dg.DagsterInstance, *, reconcile: bool = True) -> int:
        """Read new events and apply the clock; returns the number of facts with an effect.

        With `reconcile`, also read transitions of another center, late events and new tags, and report to Dagster
        invalid and recovered slices, and runs of lost hosts. An error in one step affects only that step. After an
        error the tick starts from the stored state.
        """
        run = self.isolated.run
        self.isolated.begin()
        if self._holders and self._due.has_come("terms", LOOK_SECONDS):
            run(_TERMS, self._terms.poll, None)
        if reconcile or self._events is None:
            self.center.catch_up()
            run("backfills begun in Dagster", partial(self._begun_in_dagster.poll, instance), None)
            if self._lost is not None:
                run("lost runs", partial(self._lost.poll, instance), None)
            run("backfills", self.backfills.refresh, None)
        new = run(EVENT_LOG, partial(self._poll_events, instance, reconcile=reconcile), 0)
        if reconcile:
            new += run("snapshots", self._snapshots.poll, 0)
            new += run("outside world", partial(self.outside.poll, instance), 0)
        run(DECIDE, self.center.tick, 0)
        if reconcile:
            run("validity checks", partial(self._validity.poll, instance, utc_now()), 0)
        return new

    def may_launch(self, name: str) -> bool:
        """Whether this center computes an entity, and no other center has taken it over. Raises StateStoreDownError."""
        return name not in self._flows or self.fence.may_launch(self._flows[name])

    def flow_troubles(self) -> list[str]:
        """Flows that this center has to leave or to begin, and lakes that hide whether it has to."""
        return flow_troubles(self.fence, self._holders)

    def _poll_events(self, instance: dg.DagsterInstance, *, reconcile: bool) -> int:
        """After an error, read the log again from the stored position."""
        events = self._events or EventLogDetector(instance, self.center, self.store.read, self.refused)
        self._events, events.instance = None, instance
        new = events.poll(reconcile=reconcile)
        self._events = events
        return new

    def upkeep(self) -> None:
        """Less frequent work: reconcile slices with wiped assets in Dagster and with storage.

        Also store the catalog's counts, the schedule's position, the lake's table of slices if it exists, and Iceberg
        metadata; compact old transitions; delete old profiles, results of rules, runs, and printed output of steps.
        """
        run, database, events = self.isolated.run, self.store.database, self._events
        if events and self._due.has_come("wiped", _WIPED_SECONDS):
            run("wiped slices", events.inspect_wiped, None)
        if self._due.has_come("storage", _STORAGE_SECONDS):
            run("storage", partial(self._storage.poll, _STORAGE_AT_ONCE), None)
            run("counts of the catalog", partial(note_counts, database), None)
        if self._due.has_come("slices", _SLICES_SECONDS):
            run(_SLICES, self._slices.poll, None)
        if self._due.has_come("iceberg", _ICEBERG_SECONDS):
            run(_ICEBERG, self._iceberg.poll, None)
        if self._due.has_come("noted", _NOTED_SECONDS):
            run("checkpoint", self.center.checkpoint, None)
        if self._due.has_come("compacted", _COMPACTED_SECONDS):
            oldest = utc_now() - self._history
            run("compaction", partial(compact, database, oldest, _COMPACTED_AT_ONCE), None)
            run("old profiles", partial(SliceProfiles(database).forget, utc_now(), self._history), None)
            run("audit log", partial(AuditLog(database).trim, utc_now() - self._audited), None)
            run("old results of rules", partial(RuleResults(database).forget, utc_now(), self._history), None)
        if events and self._due.has_come("step logs", _COMPACTED_SECONDS):
            oldest = utc_now() - self._history
            run("step logs", partial(remove_step_logs, events.instance, oldest, _LOGS_AT_ONCE), None)
            run("old files", partial(self._old_runs.remove_files, events.instance, utc_now(), _LOGS_AT_ONCE), None)
        if events and self._due.has_come("old runs", _RUNS_SECONDS):
            run("old runs", partial(self._old_runs.poll, events.instance, utc_now(), RUNS_AT_ONCE), None)

    @property
    def takes_in(self) -> bool:
        """Whether the last tick read Dagster's event log and decided: required for the work of the center."""
        return {EVENT_LOG, DECIDE}.isdisjoint(self.isolated.troubles)

    @property
    def lacks_runs(self) -> bool:
        """Whether Dagster has no run for a launch that the center noted: it was deleted, or is still to come."""
        return self._events is not None and bool(self._events.launches_without_run)

    @property
    def unreadable_tables(self) -> Mapping[str, str]:
        """Why tables of the lake could not be read at the last look, by entity."""
        return self._storage.troubles

    def begin_anew(self) -> None:
        """Another center may have been active: the next tick starts from the stored state, with all maintenance."""
        self._events, self._due = None, DueTimes()
        self.backfills.forget()
        self.outside.begin_anew()
        self._validity.begin_anew()

    def read_again(self) -> None:
        """After an error, the next tick starts from the stored state."""
        self._events = None
        self.backfills.forget()


def first_start(warehouse: Warehouse) -> datetime:
    """The start of the first slice of all entities."""
    graph = warehouse.graph
    starts = []
    for name in graph:
        node = graph.node(name)
        if node.grid is not None:
            starts.append(node.grid.window(node.existing.start).start)
    return min(starts, default=utc_now())


class BackgroundStep:
    """Repeats one step, never twice at once. A center that ends does not wait for it."""

    def __init__(self, name: str, step: Callable[[], None]) -> None:
        self._name, self._step, self._running = name, step, Future[None]()
        self._running.set_result(None)

    def poll(self) -> None:
        """Start it again, unless it is running. Raises the error of the last time, once."""
        if not self._running.done():
            return
        last, self._running = self._running, Future[None]()
        Thread(target=self._work, args=(self._running,), name=self._name, daemon=True).start()
        last.result()

    def _work(self, running: Future[None]) -> None:
        try:
            running.set_result(self._step())
        except BaseException as error:  # noqa: BLE001 - raised again by the next look at it
            running.set_exception(error)

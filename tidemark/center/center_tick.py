"""The center and what it is told by Dagster, the capture, the outside world and the clock: one tick of every host."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from tidemark.catalog.slice_counts import note_counts
from tidemark.center.backfills import BackfillDriver
from tidemark.center.center import DependencyCenter
from tidemark.center.detectors.dagster_backfills import DagsterBackfillDetector
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.detectors.snapshots import SnapshotDetector
from tidemark.center.detectors.storage import StorageDetector
from tidemark.center.outside_world import OutsideWorld
from tidemark.center.validity_checks import ValidityChecks
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.dagster_internals.step_output_files import remove_step_logs
from tidemark.state_store.compaction import compact
from tidemark.state_store.rule_results import RuleResults
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore
from tidemark.system.due_times import DueTimes
from tidemark.system.utc_clock import utc_now
from tidemark.warm_runs.lost_runs import LostRuns
from tidemark.warm_runs.worker_options import DEFAULT_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dagster as dg

    from tidemark.warehouse.warehouse import Warehouse

_NOTED_SECONDS: Final = 3_600.0
_COMPACTED_SECONDS: Final = 600.0
_COMPACTED_AT_ONCE: Final = 10_000
_LOGS_AT_ONCE: Final = 500
_WIPED_SECONDS: Final = 60.0
_STORAGE_SECONDS: Final = 10.0
_STORAGE_AT_ONCE: Final = 1.0
"""After so many seconds no further table is looked at: the next time goes on from there."""


class CenterTick:
    """The center and what it is told by Dagster, the capture and the clock; `who` names it in the transitions."""

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
        self._validity = ValidityChecks(self.center)
        self._events: EventLogDetector | None = None
        is_shared = bool(warehouse.settings.state)
        self._lost = LostRuns(self.store.database, DEFAULT_OPTIONS.wait_told_seconds) if is_shared else None
        self._due = DueTimes()
        self._history = timedelta(days=warehouse.settings.history_days)

    def tick(self, instance: dg.DagsterInstance, *, reconcile: bool = True) -> int:
        """Take in what is new and let time work; returns how many facts changed something.

        With `reconcile` also what another center wrote, what became visible late, and tags that the capture gave; and
        Dagster is told which slices are not valid, or are so again, and of runs whose host of workers is gone.
        After an error everything begins with what is stored.
        """
        if reconcile or self._events is None:
            self.center.catch_up()
            self._begun_in_dagster.poll(instance)
            if self._lost is not None:
                self._lost.poll(instance)
            self.backfills.refresh()
        events = self._events or EventLogDetector(instance, self.center, self.store.read, self.refused)
        self._events, events.instance = None, instance
        new = events.poll(reconcile=reconcile)
        if reconcile:
            new += self._snapshots.poll()
            new += self.outside.poll(instance)
        self.center.tick()
        self._events = events
        if reconcile:
            self._validity.poll(instance, utc_now())
        return new

    def upkeep(self) -> None:
        """What is done less often: slices are reconciled with what was wiped in Dagster and with what is in storage.

        What the catalog counts is noted, and the schedule's position; transitions that are older than what is kept are
        compacted, profiles and results of rules forgotten, and what steps printed then is removed.
        """
        if self._events and self._due.has_come("wiped", _WIPED_SECONDS):
            self._events.inspect_wiped()
        if self._due.has_come("storage", _STORAGE_SECONDS):
            self._storage.poll(_STORAGE_AT_ONCE)
            note_counts(self.store.database)
        if self._due.has_come("noted", _NOTED_SECONDS):
            self.center.checkpoint()
        if self._due.has_come("compacted", _COMPACTED_SECONDS):
            compact(self.store.database, utc_now() - self._history, _COMPACTED_AT_ONCE)
            SliceProfiles(self.store.database).forget(utc_now(), self._history)
            RuleResults(self.store.database).forget(utc_now(), self._history)
        if self._events and self._due.has_come("step logs", _COMPACTED_SECONDS):
            remove_step_logs(self._events.instance, utc_now() - self._history, _LOGS_AT_ONCE)

    @property
    def unreadable_tables(self) -> Mapping[str, str]:
        """Why tables of the lake could not be read at the last look, by entity."""
        return self._storage.troubles

    def begin_anew(self) -> None:
        """Another center may have been active: the next tick begins with what is stored, and all upkeep is due."""
        self._events, self._due = None, DueTimes()
        self.backfills.forget()
        self.outside.begin_anew()
        self._validity.begin_anew()

    def read_again(self) -> None:
        """After an error the next tick begins with what is stored."""
        self._events = None
        self.backfills.forget()


def first_start(warehouse: Warehouse) -> datetime:
    """The beginning of the first slice that any entity declares."""
    graph = warehouse.graph
    starts = []
    for name in graph:
        node = graph.node(name)
        if node.grid is not None:
            starts.append(node.grid.window(node.existing.start).start)
    return min(starts, default=utc_now())

"""Data of `status` and `explain`, from the state store, the captured tables and Dagster's event log."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from tidemark.capture.commits.commit_state import commits
from tidemark.capture.operations.collect_status import table_statuses
from tidemark.capture.operations.snapshot_blockers import blockers_of
from tidemark.capture.operations.untagged_reason import untagged_reason
from tidemark.catalog.notes import iceberg_troubles, unreadable_tables
from tidemark.catalog.outdated_slices import outdated_slices
from tidemark.catalog.told_rules import told_rules
from tidemark.center.health import StoredHealth
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.profile.comparison import words
from tidemark.dependency_model.readiness.earliest_time import earliest
from tidemark.dependency_model.readiness.overview import EntityOverview, SlicesInMemory, overview, root_cause
from tidemark.dependency_model.readiness.self_starting_slices import is_computed_here
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.dependency_model.status.flaws import flaws
from tidemark.dependency_model.time.zone import zone_info
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.database import Database
from tidemark.state_store.failed_runs import failed_runs
from tidemark.state_store.lease import CENTER
from tidemark.state_store.live_leases import live_leases
from tidemark.state_store.past_states import states_at
from tidemark.state_store.place_waits import place_waits, waiting_name
from tidemark.state_store.probe_errors import probe_errors
from tidemark.state_store.probe_looks import ProbeLook, probe_looks
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_candidates import SnapshotCandidates
from tidemark.state_store.store import StateStore
from tidemark.state_store.stored_known_slices import StoredSlices
from tidemark.system.served_project import runs_url
from tidemark.warehouse.dagster_partition_keys import period_of
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from tidemark.capture.operations.table_status import TableStatus
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.snapshot_candidates import Candidate
    from tidemark.state_store.transition import FailureCount
    from tidemark.system.settings import Settings
    from tidemark.warehouse.code_version import DeclaredCode

_SHOWN: Final = 3
_REASONS = {
    RunState.READY: "it is ready, but not started yet",
    RunState.LAUNCHED: "its run is requested",
    RunState.RUNNING: "it is being computed",
    RunState.ABSENT: "its data was deleted",
}


def slices_older_than_their_code(
    settings: Settings, declared: DeclaredCode, entities: Iterable[Entity]
) -> Mapping[str, Sequence[str]]:
    """Keys of slices older than their code, by entity; empty without a state store. Raises StateStoreDownError."""
    if not settings.state and not settings.state_db.exists():
        return {}
    database = Database.of(settings)
    try:
        return outdated_slices(CodeRegistry(database), declared, entities)
    finally:
        database.close()


class _SeenSlices:
    """Stored slices at one moment: each status is read once."""

    def __init__(self, stored: StoredSlices) -> None:
        self.status: Callable[[Slice], SliceStatus] = cache(stored.status)
        self.newest = stored.newest


class WarehouseStatus:
    """A project's slices at `now` (aware). Raises StateStoreDownError if the store does not answer.

    If it `is_past`, it shows the state at `now` from the transitions alone, with today's declarations.
    """

    def __init__(self, warehouse: Warehouse, store: StateStore | None, now: datetime, *, is_past: bool = False) -> None:
        self.warehouse, self.store, self.now, self._is_past = warehouse, store, now, is_past
        self._tables: dict[str, TableStatus | None] = {}
        self.known = _SeenSlices(StoredSlices(warehouse.graph, store.read)) if store else None

    @classmethod
    def of(cls, settings: Settings, now: datetime, *, is_past: bool = False) -> WarehouseStatus:
        """The status of a project; without computed slices there is no store, and everything waits."""
        exists = settings.state or settings.state_db.exists()
        return cls(load_warehouse(settings), StateStore.of(settings) if exists else None, now, is_past=is_past)

    @cached_property
    def _statuses(self) -> Mapping[Slice, SliceStatus]:
        if self.store is None:
            return {}
        if self._is_past:
            return {state.slice: state.status for state in states_at(self.store.database, self.now)}
        _, currents = self.store.read.everything()
        return {current.slice: current.status for current in currents}

    def status_of(self, slice_: Slice) -> SliceStatus:
        """The status of one slice; it is read alone if not all slices have been read."""
        if self.known is None or self._is_past or "_statuses" in self.__dict__:
            return self._statuses.get(slice_, SliceStatus())
        return self.known.status(slice_)

    @cached_property
    def entries(self) -> list[EntityOverview]:
        """One entry for each entity, upstream before downstream."""
        entries = overview(self.warehouse.graph, self._statuses, self.now)
        by_name = {entry.entity: entry for entry in entries}
        for slice_ in self.anomalies:
            if slice_.entity in by_name:
                by_name[slice_.entity].anomalous.append(slice_)
        return entries

    @cached_property
    def anomalies(self) -> Mapping[Slice, str]:
        """Slices with an anomaly in order of time, with the anomalies."""
        told = SliceProfiles(self.store.database).anomalous() if self.store else []
        return {stored.slice: words(stored.anomalies) for stored in told}

    def waits_for(self, entry: EntityOverview) -> tuple[Slice, list[str]] | None:
        """The furthest upstream slice that the first waiting slice waits for, and why it is missing.

        A slice that waits for a place is its own cause.
        """
        ready = next((slice_ for slice_ in entry.under_way if self.place_wait(slice_)), None)
        if ready is not None:
            return ready, self.because(ready)
        if not entry.waiting:
            return None
        cause = self.cause_of(entry.waiting[0])
        return cause, self.because(cause)

    def cause_of(self, slice_: Slice) -> Slice:
        """The slice furthest upstream that a slice waits for; itself if nothing is missing. Reads all slices."""
        known = SlicesInMemory(self.warehouse.graph, self._statuses)
        return root_cause(self.warehouse.graph, slice_, known, self.now)

    def trouble_of(self, slice_: Slice) -> list[str]:
        """The problems of a slice, in sentences: the reason of a failure, its faults, the rules that it broke."""
        status = self.status_of(slice_)
        gone = [_REASONS[RunState.ABSENT]] if status.run_state is RunState.ABSENT else []
        return [*self.failure(slice_), *gone, *flaws(slice_, status), *self.broken_rules(status.issues)]

    def because(self, slice_: Slice) -> list[str]:
        """The reason why a slice without missing inputs is not there: its capture, its run, or a missing report."""
        if self.warehouse.is_snapshot(slice_.entity) and not self._is_past:
            return self.snapshot_blockers(slice_)
        status = self.status_of(slice_)
        entity = self.warehouse.graph.entity(slice_.entity)
        if entity.kind is EntityKind.VIRTUAL and status.run_state is RunState.WAITING:
            if entity.probe is None:
                return ["another system makes it and has not reported it yet"]
            parts = "".join(f" --part {name}={value}" for name, value in slice_.sub)
            look = f"tidemark probe --now {slice_.entity} {slice_.key}{parts}"
            error = self._probe_errors.get(str(slice_))
            failed = [f"its probe fails: {error}"] if error else []
            last = self._last_look(slice_)
            return [*failed, *last, f"another system makes it, and its probe has not found it yet: `{look}` looks now"]
        broken = self.broken_rules([slice_]) if slice_ in status.issues else []
        reason = self.place_wait(slice_) or _REASONS.get(status.run_state)
        return [*broken, *([reason] if reason else self.failure(slice_))]

    def place_wait(self, slice_: Slice) -> str:
        """Why a ready slice waits for a place; empty if it does not."""
        why = self._place_waits.get(waiting_name(slice_), "")
        is_ready = why and self.status_of(slice_).run_state is RunState.READY
        return f"it is ready, and waits for a place: {why}" if is_ready else ""

    @cached_property
    def _place_waits(self) -> Mapping[str, str]:
        return place_waits(self.store.database).all() if self.store and not self._is_past else {}

    @cached_property
    def _probe_errors(self) -> Mapping[str, str]:
        """The last errors of failing probes, by slice; none for the past."""
        return probe_errors(self.store.database).all() if self.store and not self._is_past else {}

    def _last_look(self, slice_: Slice) -> list[str]:
        """The last look of the slice's probe and the time of the next one; empty if no center has looked."""
        text = probe_looks(self.store.database).get(str(slice_)) if self.store and not self._is_past else None
        if text is None:
            return []
        look = ProbeLook.of_json(text)
        again = (
            f"it looks again at {self._local(look.next, slice_)}" if not self.without_center else "no center looks now"
        )
        return [f"its probe looked at {self._local(look.at, slice_)}: {look.why}; {again}"]

    def failure(self, slice_: Slice) -> list[str]:
        """The reason of a failed slice's failure, its run in Dagster, and what to do; empty for other slices."""
        if self.store is None or self.status_of(slice_).run_state is not RunState.FAILED:
            return []
        told = failed_runs(self.store.database, [slice_], self.now if self._is_past else None).get(slice_)
        if told is None:
            return ["it failed, for an unknown reason"]
        at = self._local(told.at, slice_)
        run = f"run {told.run_id}, {at}" if told.run_id else at
        link = f"{self.runs_url}{told.run_id}" if self.runs_url and told.run_id else ""
        what = "cancelled" if told.failures.is_held else "failed"
        why = f"{what}: {told.why or 'its run gave no reason'}"
        return [why, f"{run}{f'  {link}' if link else ''}", self._next_attempt(slice_, told.failures)]

    def _next_attempt(self, slice_: Slice, failures: FailureCount) -> str:
        """The time of a failed slice's retry, or the person or system that must request it."""
        if not is_computed_here(self.warehouse.graph, slice_):
            return "another system makes it: it is complete when that system reports it again"
        due = LaunchPolicy().tried_again_at(failures)
        if due is None:
            return f"fix the cause, then run it again: tidemark backfill {slice_.entity} {slice_.key} --approve"
        if self.without_center:
            return "it is retried when a center runs: start `tidemark up` or `tidemark center`"
        return f"it is retried at {self._local(due, slice_)}"

    def _local(self, instant: datetime, slice_: Slice) -> str:
        zone = zone_info(self.warehouse.graph.entity(slice_.entity).time_zone)
        return instant.astimezone(zone).isoformat(sep=" ", timespec="minutes")

    @cached_property
    def without_center(self) -> str:
        """A warning that no center runs; empty if one runs, or for the past."""
        settings = self.warehouse.settings
        store = settings.state or settings.state_db
        is_there = bool(settings.state) or settings.state_db.exists()
        held = live_leases(store) if is_there and not self._is_past else []
        if self._is_past or any(lease.startswith(f"{CENTER},") for lease in held):
            return ""
        return "no center runs: start `tidemark up` or `tidemark center`"

    @cached_property
    def center_trouble(self) -> str:
        """A warning that no center runs, or that the active one does not work; empty otherwise, and for the past."""
        if self._is_past or self.without_center or self.store is None:
            return self.without_center
        trouble = StoredHealth(self.store.database).get()
        return f"the center does not work: {trouble}; its log says why" if trouble else ""

    def broken_rules(self, slices: Iterable[Slice]) -> list[str]:
        """Results of failed rules for a few slices: `orders@2026-03-24: unique: 2 rows ..`."""
        if self.store is None:
            return []
        statuses = {slice_: self.status_of(slice_) for slice_ in sorted(slices, key=str)[:_SHOWN]}
        told = told_rules(self.store.database, statuses, self.now if self._is_past else None)
        return [f"{slice_}: {told[slice_]}" for slice_ in statuses if told.get(slice_)]

    def snapshot_blockers(self, slice_: Slice) -> list[str]:
        """The reasons why a snapshot waits, or is not tagged; empty for other slices."""
        name = self.warehouse.captured_table_of(slice_.entity).name
        table = self._table(name)
        if table is None:
            return []
        zone, end = zone_info(self.warehouse.settings.time_zone), self.warehouse.graph.window(slice_).end
        blockers = blockers_of(table, end, zone)
        if blockers:
            return blockers
        if candidate := self._candidate(slice_):
            return [candidate.reason]
        log = commits(self.warehouse.settings.warehouse / name)
        reason = untagged_reason(log, slice_.entity, slice_.key, round(end.timestamp() * 1000))
        return [reason] if reason else []

    def _candidate(self, slice_: Slice) -> Candidate | None:
        """The candidate version of the slice, if its rules failed or were not checked yet."""
        if self.store is None:
            return None
        period = period_of(self.warehouse.graph, slice_.entity)
        return SnapshotCandidates(self.store.database).get(slice_.entity, period, slice_.key)

    @cached_property
    def outdated_slices(self) -> Mapping[str, Sequence[str]]:
        """Keys of slices older than their code, by entity; empty for the past."""
        if self.store is None or self._is_past:
            return {}
        return outdated_slices(CodeRegistry(self.store.database), self.warehouse, self.warehouse.entities.values())

    @cached_property
    def unreadable_tables(self) -> Mapping[str, str]:
        """The reasons why tables of the lake could not be read at the last look, by entity; empty for the past."""
        return {} if self.store is None or self._is_past else unreadable_tables(self.store.database).all()

    @cached_property
    def iceberg_troubles(self) -> Mapping[str, str]:
        """The reasons why Iceberg metadata could not be written at the last try, by entity; empty for the past."""
        return {} if self.store is None or self._is_past else iceberg_troubles(self.store.database).all()

    @cached_property
    def runs_url(self) -> str:
        """The address of Dagster's runs, to be followed by a run's id; empty without Dagster's pages here."""
        return runs_url(self.warehouse.settings)

    def not_started_yet(self, slice_: Slice) -> list[str]:
        """The reason for a slice without missing inputs: its time has not come, or a center will release it."""
        entity = self.warehouse.graph.entity(slice_.entity)
        not_before = earliest(entity, self.warehouse.graph.window(slice_))
        if self.now < not_before:
            return [f"its time has not come: not before {self._local(not_before, slice_)}"]
        return ["all its inputs are there: the center releases it at its next tick"]

    def _table(self, name: str) -> TableStatus | None:
        """The status of a table's capture, read once."""
        if name not in self._tables:
            sources = [source for source in self.warehouse.source_tables() if source.name == name]
            database = self.store.database if self.store else None
            told = table_statuses(sources, self.warehouse.settings, database, self.now)
            self._tables[name] = next(iter(told), None)
        return self._tables[name]

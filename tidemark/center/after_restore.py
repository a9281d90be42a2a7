"""Compares state store, Dagster's log, lake and topics after a restore, and plans what to do.

The plan is made by reading only. Carrying it out uses the normal steps of the center in order: runs without a process
are ended, missing events are read, tables are compared with the store, and tags of missing versions are dropped, so
that the capture tags these slices again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.catalog.partition_contents import DataCondition
from tidemark.catalog.reconciliation import Reconciliation
from tidemark.center.capture_after_restore import CaptureAfterRestore
from tidemark.center.center import DependencyCenter
from tidemark.center.center_tick import first_start
from tidemark.center.detectors.event_log import CURSOR, TIME_CURSOR, EventLogDetector, event_id
from tidemark.center.detectors.log_identity import why_other_log
from tidemark.center.detectors.storage import StorageDetector
from tidemark.center.detectors.told_event import told_slice
from tidemark.center.errors import AnotherCenterError, RequestError
from tidemark.center.leadership import Leadership, holder_name
from tidemark.center.outages import OUTAGES
from tidemark.center.restore_step import RestoreStep, StepKind
from tidemark.delta.log_end import log_end
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.errors import ParseError
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.lease import Lease
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.dagster_partition_keys import period_of
from tidemark.warm_runs.close_runs import tell_end
from tidemark.warm_runs.run_identity import OutsideEnd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

_WHO: Final = "doctor"
_LEASE_SECONDS: Final = 30.0
_AT_ONCE: Final = 1_000
_UNDER_WAY: Final = (
    *(dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING),
    *(dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING),
)
_GONE: Final = "No process has had this run since a backup was restored."


class AfterRestore:
    """For one project whose processes are stopped."""

    def __init__(self, warehouse: Warehouse, store: StateStore, instance: dg.DagsterInstance) -> None:
        self._warehouse, self._store, self._instance = warehouse, store, instance
        self._capture = CaptureAfterRestore(warehouse, store)

    def plan(self) -> list[RestoreStep]:
        """The plan. Nothing is written."""
        news = self._untold()
        return [*self._runs(), *self._events(news), *self._tables(frozenset(news)), *self._capture.steps()]

    def apply(self) -> None:
        """Carry out all steps except computations. Raises AnotherCenterError while a host is active."""
        store, lease = self._store, Lease(self._store.database, holder_name(_WHO), _LEASE_SECONDS)
        held = lease.hold()
        if held.fencing_token is None:
            raise AnotherCenterError.of(held.holder)
        with Leadership(lease):
            store.write.fence = lease.fence
            start = first_start(self._warehouse)
            center = DependencyCenter(self._warehouse.graph, store, since=start, clock=utc_now, who=_WHO)
            for run in self._open_runs():
                tell_end(self._instance, run, _GONE, OutsideEnd.LOST)
            EventLogDetector(self._instance, center, store.read).poll()
            StorageDetector(self._warehouse, center, store).poll(verify=True)
            self._drop_tags()
            self._capture.apply()

    def to_compute(self) -> tuple[Slice, ...]:
        """Slices outside of backfills whose data is missing, or differs from the stored result of their run."""
        _, currents = self._store.read.everything()
        wrong = [
            current.slice
            for current in currents
            if (current.status.run_state is RunState.ABSENT or FOREIGN in current.status.states)
            and self._is_computed(current.slice.entity)
        ]
        return self._without_backfill(wrong)

    def _without_backfill(self, slices: list[Slice]) -> tuple[Slice, ...]:
        held = Backfills(self._store.database).holders(slices)
        return tuple(slice_ for slice_ in slices if slice_ not in held)

    def _is_computed(self, entity: str) -> bool:
        graph = self._warehouse.graph
        return entity in graph and not self._warehouse.is_external(entity) and not self._warehouse.is_made_here(entity)

    def _runs(self) -> Iterator[RestoreStep]:
        if runs := self._open_runs():
            why = "Dagster shows them as active, but their processes have ended"
            yield RestoreStep(StepKind.END, why, names=runs)

    def _open_runs(self) -> tuple[str, ...]:
        records = self._instance.get_run_records(dg.RunsFilter(statuses=list(_UNDER_WAY)))
        return tuple(record.dagster_run.run_id for record in records)

    def _events(self, news: dict[Slice, None]) -> Iterator[RestoreStep]:
        if other := self._other_log():
            why = f"Dagster is behind the state store: its log {other}, and was read to event {self._cursor()}"
            yield RestoreStep(StepKind.READ_AGAIN, why)
        if news:
            why = "the state store is behind Dagster: its log has these completed slices"
            yield RestoreStep(StepKind.TAKE_IN, why, slices=tuple(news))

    def _cursor(self) -> int:
        return int(self._store.read.cursor(CURSOR) or 0)

    def _other_log(self) -> str:
        return why_other_log(self._instance, self._cursor(), float(self._store.read.cursor(TIME_CURSOR) or 0))

    def _untold(self) -> dict[Slice, None]:
        """Slices with a materialization in Dagster that the state store does not have."""
        log, news = self._instance.event_log_storage, dict[Slice, None]()
        after = 0 if self._other_log() else self._cursor()
        kind = dg.DagsterEventType.ASSET_MATERIALIZATION
        while records := log.get_event_records(
            dg.EventRecordsFilter(event_type=kind, after_cursor=after), limit=_AT_ONCE, ascending=True
        ):
            after = records[-1].storage_id
            told = {
                event_id(record.event_log_entry, slice_): slice_
                for record in records
                if (slice_ := self._slice_of(record)) is not None
            }
            known = self._store.read.known_ids(told)
            news.update(dict.fromkeys(slice_ for id_, slice_ in told.items() if id_ not in known))
        return news

    def _slice_of(self, record: dg.EventLogRecord) -> Slice | None:
        name = record.asset_key.to_user_string() if record.asset_key else ""
        if name not in self._warehouse.graph:
            return None
        try:
            return told_slice(self._warehouse.graph, name, record.partition_key)
        except (ParseError, RequestError):  # the center refuses and reports it
            return None

    def _tables(self, news: frozenset[Slice]) -> Iterator[RestoreStep]:
        reconciliation = Reconciliation(self._warehouse, self._store)
        notes, suspects = reconciliation.notes.tables(), reconciliation.notes.suspects()
        absent, foreign, tags = list[Slice](), list[Slice](), list[Slice]()
        for table in reconciliation.tables:
            name, now = table.entity.name, int(utc_now().timestamp())
            try:
                looked = reconciliation.reconcile(table, notes.get(name), suspects.get(name, []), now, verify=True)
            except OUTAGES:
                raise
            except Exception as error:  # noqa: BLE001 - an unforeseen error in one table must not hide the others
                yield RestoreStep(StepKind.SEE_TO, f"its table cannot be read: {error}", names=(name,))
                continue
            wrong = [] if looked is None else [told for told in looked.verdicts if told[0].slice not in news]
            for current, verdict in wrong:
                if not table.is_computed and (verdict.version or 0) > log_end(table.path).version:
                    tags.append(current.slice)
                elif table.is_computed and verdict.condition is DataCondition.ABSENT:
                    absent.append(current.slice)
                elif table.is_computed and verdict.condition is DataCondition.FOREIGN:
                    foreign.append(current.slice)
        yield from self._compared(absent, foreign, tags)

    def _compared(self, absent: list[Slice], foreign: list[Slice], tags: list[Slice]) -> Iterator[RestoreStep]:
        if tags:
            why = "the lake is behind the state store: their tags name missing versions"
            yield RestoreStep(StepKind.FORGET, why, slices=tuple(tags))
        wrong = [slice_ for slice_ in (*absent, *foreign) if self._is_computed(slice_.entity)]
        absent = [slice_ for slice_ in absent if self._status(slice_) is not RunState.ABSENT]
        if absent:
            why = "the lake is behind the state store: the results of their runs are missing"
            yield RestoreStep(StepKind.FORGET, why, slices=tuple(absent))
        if wanted := {*self._without_backfill(wrong), *self.to_compute()}:
            why = "their data is missing, or differs from the result of their last run"
            yield RestoreStep(StepKind.COMPUTE, why, slices=tuple(sorted(wanted, key=str)))

    def _status(self, slice_: Slice) -> RunState:
        current = self._store.read.current(slice_)
        return current.status.run_state if current else RunState.WAITING

    def _drop_tags(self) -> None:
        registry = SnapshotRegistry(self._store.database)
        for step in self._tables(frozenset()):
            if step.kind is StepKind.FORGET:
                self._drop(registry, step.slices)

    def _drop(self, registry: SnapshotRegistry, slices: Iterable[Slice]) -> None:
        for slice_ in slices:
            if self._warehouse.is_snapshot(slice_.entity):
                registry.drop(slice_.entity, period_of(self._warehouse.graph, slice_.entity), slice_.key)

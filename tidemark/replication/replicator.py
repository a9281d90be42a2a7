"""Replicates completed slices that a place does not have yet, the most urgent first (C6).

One process works for each place. Snapshots of a table are versions of one log, so they are published in the order of
versions. A snapshot that has to be retried delays later ones. A place that does not answer delays no other place.
Faults that the source found after a slice was published are committed first.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.business_time import slice_values
from tidemark.dependency_model.failover import Permission
from tidemark.dependency_model.status import Quality, RunState
from tidemark.errors import TidemarkError, TransientError
from tidemark.replication.errors import OlderSnapshotError, RestatedSnapshotError
from tidemark.replication.slice_files import SliceFiles
from tidemark.replication.slice_replication import SliceReplication
from tidemark.replication.told_slice import fault_of, told_slice
from tidemark.state_store.held_leases import holding
from tidemark.state_store.slice_copies import CopyState, SliceCopies, SliceCopy
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.storage.errors import StorageDownError
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.center_fence import CenterFence
from tidemark.warehouse.center_terms import CenterTerms, TermMark
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.replication.bandwidth import Bandwidth
    from tidemark.state_store.fence import Fence
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Current
    from tidemark.system.replica_place import ReplicaPlace
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

_JUDGED: Final = (Quality.PASSED, Quality.IGNORED)
_LOGGER: Final = logging.getLogger("tidemark.replication")


@dataclass
class PassReport:
    """The result of a pass; `troubles` has the reason for each unpublished slice."""

    published: int = 0
    sent_bytes: int = 0
    troubles: dict[Slice, str] = field(default_factory=dict)


class Replicator:
    """Copies to one place what entities declare."""

    def __init__(
        self,
        warehouse: Warehouse,
        store: StateStore,
        place: ReplicaPlace,
        bandwidth: Bandwidth,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._warehouse, self._store, self._place, self._clock = warehouse, store, place, clock
        self._fence = CenterFence(warehouse.settings, store.database, clock)
        self._bandwidth, self._registry = bandwidth, SnapshotRegistry(store.database)
        self._stored = {
            entity.name: SliceCopies(store.database, place.name, entity.name)
            for entity in warehouse.entities.values()
            if place.name in entity.replicate
        }
        self._copies: dict[Slice, SliceCopy] = {}
        self._untold: dict[Slice, str] = {}
        self._fences: tuple[Fence, ...] = ()
        self._seen = -1

    def run_pass(self, goes_on: Callable[[], bool] = lambda: True) -> PassReport:
        """Publish everything that is due, while `goes_on`, called between slices, returns True.

        Raises StateStoreDownError, and AlreadyRunningError while another process copies to the place.
        """
        report = PassReport()
        with holding(
            self._store.database, f"replicate {self._place.name}", f"replicating to {self._place.name}"
        ) as held:
            self._fences, self._seen = held.fences, -1
            self._copies = {slice_: copy for stored in self._stored.values() for slice_, copy in stored.all().items()}
            self._untold = {}
            while goes_on() and self._tell_faults(report) and (copy := self._next()) is not None:
                if not self._carry_out(copy, report):
                    break
            if not report.troubles:
                self._hand_over()
        return report

    def _hand_over(self) -> None:
        """Say to the center at the place that its take-over may begin: no run is active, and it has every slice."""
        for flows in {entity.center for entity in self._warehouse.entities.values() if entity.center}:
            seen, allowed = self._fence.seen(flows), self._fence.permission(flows)
            if seen is None or allowed is not Permission.HANDS_OVER or seen.term.holder != self._place.name:
                continue
            # No process can act on a look from before the term any more.
            is_known = self._clock() - self._fence.asked_at(seen.term) >= self._fence.fence
            if is_known and self._is_drained(flows):
                self._fence.leave(seen)
                CenterTerms(self._place.lake, flows).mark(seen.term.number, TermMark.HANDED)
                _LOGGER.info("the flows of %s are handed over to %s", flows, self._place.name)

    def _is_drained(self, flows: str) -> bool:
        """Whether no run of the flows is active, and the place has every slice."""
        names = {name for name in self._stored if self._warehouse.entities[name].center == flows}
        last, currents = self._store.read.everything("~")
        under_way = any(
            current.slice.entity in names and current.status.run_state in (RunState.LAUNCHED, RunState.RUNNING)
            for current in currents
        )
        is_open = any(copy.is_open for copy in self._copies.values() if copy.slice.entity in names)
        return not under_way and not is_open and last == self._seen

    def _tell_faults(self, report: PassReport) -> bool:
        """Commit the faults of published slices, and their ends. Returns whether the place answers.

        After an error, the next pass commits the fault.
        """
        last = self._store.read.last()
        if last != self._seen:
            self._plan(last)
        for slice_ in sorted(self._untold):
            copy, fault = self._copies[slice_], self._untold.pop(slice_)
            try:
                self._replication_of(copy, None).tell_fault(copy, fault)
            except (TidemarkError, OSError) as error:
                report.troubles[slice_] = str(error)
                if isinstance(error, StorageDownError):
                    return False
        return True

    def _next(self) -> SliceCopy | None:
        """The most urgent copy that is due, including slices completed meanwhile."""
        now, held = self._clock(), set[object]()
        for copy in sorted(filter(lambda copy: copy.is_open, self._copies.values()), key=self._urgency):
            table = self._warehouse.table_path(copy.slice.entity)
            if table not in held and copy.due_at <= now:
                return copy
            if self._warehouse.is_snapshot(copy.slice.entity) and copy.state is not CopyState.FAILED:
                held.add(table)
        return None

    def _plan(self, last: int) -> None:
        """Plan changed slices. `last` was read first, so a transition in between is seen by the next look."""
        touched = (
            set(self._stored)
            if self._seen < 0
            else {transition.slice.entity for transition in self._store.read.after(self._seen)} & set(self._stored)
        )
        for name in sorted(touched):
            currents = self._store.read.completed_slices(name)
            planned = [copy for copy in self._due_of(name, currents) if copy is not None]
            self._stored[name].put(planned, self._fences)
            self._copies |= {copy.slice: copy for copy in planned}
            self._untold |= {
                current.slice: fault_of(self._store, current) for current in self._changed_faults(currents)
            }
        self._seen = last

    def _changed_faults(self, currents: Iterable[Current]) -> Iterator[Current]:
        """Published slices that became wrong at the source, or whose published generation is good again."""
        for current in currents:
            copy = self._copies.get(current.slice)
            published = copy.published if copy else None
            is_over = published is not None and published.generation == current.status.generation
            is_wrong = current.status.is_flawed
            if published is not None and is_wrong != bool(published.fault) and (is_wrong or is_over):
                yield current

    def _due_of(self, name: str, currents: Iterable[Current]) -> Iterable[SliceCopy | None]:
        """A plan for each slice whose current generation the replica does not have."""
        there = {
            current.slice: current.status.generation
            for current in currents
            if current.status.valid and current.status.quality in _JUDGED and not current.unreadable
        }
        versions = self._versions(name, list(there))
        for slice_, version in versions.items():
            yield self._planned(slice_, there[slice_], version)

    def _planned(self, slice_: Slice, generation: int, version: int) -> SliceCopy | None:
        before = self._copies.get(slice_)
        if before is not None and (before.generation, before.version) == (generation, version):
            return None
        return SliceCopy.planned(slice_, generation, version, self._clock(), before)

    def _versions(self, name: str, slices: list[Slice]) -> dict[Slice, int]:
        """The table version of each slice. Slices with an unknown version are left out."""
        if not self._warehouse.is_snapshot(name):
            told = self._store.read.versions(slices)
            return {slice_: int(version) for slice_, version in told.items() if version.isdigit()}
        tags = {tag.slice: tag for tag in self._registry.of(name, period_of(self._warehouse.graph, name))}
        return {
            slice_: tags[slice_.key].version
            for slice_ in slices
            if slice_.key in tags and not tags[slice_.key].waits_for_late
        }

    def _urgency(self, copy: SliceCopy) -> tuple[object, ...]:
        """The sort key: promised tables first, by priority; snapshots of a table by version."""
        path = self._warehouse.table_path(copy.slice.entity)
        is_snapshot = self._warehouse.is_snapshot(copy.slice.entity)
        names = self._warehouse.entities_sharing(path) if is_snapshot else [copy.slice.entity]
        rank = min(_rank(self._warehouse.entities[name]) for name in names if name in self._stored)
        return (*rank, str(path), copy.version if is_snapshot else 0, str(copy.slice))

    def _carry_out(self, copy: SliceCopy, report: PassReport) -> bool:
        """Carry out a copy. Returns whether the place can take more."""
        sent_before = copy.sent_bytes
        try:
            if self._warehouse.entities[copy.slice.entity].center and self._came_from_place(copy):
                self._note(copy.done(0, self._clock()))
                return True
            done = self._replication(copy).run(copy)
        except TransientError as error:
            self._note(self._try_again(copy, error, report))
            return not isinstance(error, StorageDownError)
        except (TidemarkError, OSError) as error:
            is_final = isinstance(error, TidemarkError)
            self._note(self._failed(copy, error, report) if is_final else self._try_again(copy, error, report))
            return True
        report.published += 1
        report.sent_bytes += done.sent_bytes - sent_before
        return True

    def _replication(self, copy: SliceCopy) -> SliceReplication:
        name = copy.slice.entity
        path, is_snapshot = self._warehouse.table_path(name), self._warehouse.is_snapshot(name)
        own = None if copy.published is None else copy.published.version
        basis = self._newest_published(path) if is_snapshot else own
        if is_snapshot and basis is not None and basis > copy.version:
            raise OlderSnapshotError.of(copy.version, basis)
        if is_snapshot:
            self._require_version(copy)
        return replace(self._replication_of(copy, basis), told=self._told(copy.slice))

    def _told(self, slice_: Slice) -> dict[str, Any]:
        """The facts that travel with a slice, with this center's name."""
        return {**told_slice(self._store, slice_), "center": self._warehouse.settings.center}

    def _replication_of(self, copy: SliceCopy, basis: int | None) -> SliceReplication:
        name = copy.slice.entity
        path, is_snapshot = self._warehouse.table_path(name), self._warehouse.is_snapshot(name)
        return SliceReplication(
            path,
            self._place.lake / path.name,
            SliceFiles({} if is_snapshot else slice_values(self._warehouse.entities[name], copy.slice)),
            basis,
            self._bandwidth,
            self._note,
            self._clock,
            term=self._fence.require_may_finish(self._warehouse.entities[name].center),
        )

    def _came_from_place(self, copy: SliceCopy) -> bool:
        """Whether this generation was computed at the place, when the center there computed these flows."""
        origin = told_slice(self._store, copy.slice).get("origin", {})
        return bool(origin.get("center") == self._place.name)

    def _require_version(self, copy: SliceCopy) -> None:
        """Raise RestatedSnapshotError if the snapshot has late changes besides its version."""
        tag = self._registry.get(copy.slice.entity, period_of(self._warehouse.graph, copy.slice.entity), copy.slice.key)
        if tag is not None and tag.is_restated:
            raise RestatedSnapshotError.of(str(copy.slice), copy.generation, copy.version)

    def _newest_published(self, path: TableLocation) -> int | None:
        names = self._warehouse.entities_sharing(path)
        published = (copy.published for copy in self._copies.values() if copy.slice.entity in names)
        return max((seen.version for seen in published if seen), default=None)

    def _note(self, copy: SliceCopy) -> None:
        self._copies[copy.slice] = copy
        self._stored[copy.slice.entity].put([copy], self._fences)

    def _failed(self, copy: SliceCopy, error: Exception, report: PassReport) -> SliceCopy:
        reason = str(error)
        report.troubles[copy.slice] = reason
        if reason != copy.reason:
            _LOGGER.warning("%s is not replicated to %s: %s", copy.slice, self._place.name, reason)
        return self._copies[copy.slice].failed(reason, self._clock())

    def _try_again(self, copy: SliceCopy, error: Exception, report: PassReport) -> SliceCopy:
        """The failed copy, which keeps its turn because it only has to be retried."""
        return replace(self._failed(copy, error, report), state=CopyState.PLANNED)


def _rank(entity: Entity) -> tuple[bool, int, str]:
    return not entity.is_promised, -entity.priority, entity.ready_by or ""

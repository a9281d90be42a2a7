"""The origin of a completed slice: its run, its time, its output and its inputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.fact import SECONDS, SIZE_BYTES
from tidemark.dependency_model.status import Event
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition
    from tidemark.warehouse.warehouse import Warehouse


_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED})


@dataclass(frozen=True)
class SliceRead:
    """Slices of one upstream that were read, with the version of the table if it is known."""

    first: str
    last: str
    slices: int
    generation: int
    version: int | None


@dataclass(frozen=True)
class SliceRecord:
    """Facts about a completed slice; None if unknown. `run_id` is the run's id in Dagster."""

    completed_at: datetime
    who: str
    run_id: str | None
    rows: int | None = None
    size_bytes: int | None = None
    version: int | None = None
    seconds: float | None = None
    read: tuple[SliceRead, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The fields as values of JSON."""
        return {**asdict(self), "completed_at": self.completed_at.isoformat()}


@dataclass(frozen=True)
class TaintRecord:
    """The author, reason and time (aware) of a taint."""

    who: str
    why: str
    since: datetime

    def as_data(self) -> dict[str, Any]:
        """The fields as values of JSON."""
        return {**asdict(self), "since": self.since.isoformat()}


def taint_record(store: StateStore, slice_: Slice) -> TaintRecord | None:
    """For a tainted slice; otherwise None."""
    current = store.read.current(slice_)
    if current is None or not current.status.tainted:
        return None
    marks = [step for step in store.read.history(slice_) if step.event is Event.TAINTED]
    return TaintRecord(marks[-1].who, marks[-1].why, marks[-1].record_time) if marks else None


def slice_record(warehouse: Warehouse, store: StateStore, slice_: Slice) -> SliceRecord | None:
    """The record of a slice; None if it was never complete."""
    history = store.read.history(slice_)
    done = next((step for step in reversed(history) if step.event in _FINISHED), None)
    if done is None:
        return None
    told, version = done.facts, done.facts.snapshot_id or ""
    record = SliceRecord(
        done.event_time,
        done.who,
        done.run_in_dagster or told.run_id,
        rows=told.row_count,
        size_bytes=told.parameters.get(SIZE_BYTES),
        version=int(version) if version.isdecimal() else None,
        seconds=told.parameters.get(SECONDS),
        read=_reads(warehouse, store, history),
    )
    registry = SnapshotRegistry(store.database)
    if warehouse.is_snapshot(slice_.entity):
        tagged = registry.get(slice_.entity, period_of(warehouse.graph, slice_.entity), slice_.key)
        return replace(record, rows=tagged.rows, version=tagged.version) if tagged else record
    return record


def _reads(warehouse: Warehouse, store: StateStore, history: Iterable[Transition]) -> tuple[SliceRead, ...]:
    """Inputs of the newest run, from its launch."""
    launched = [step.facts.manifest for step in history if step.facts.manifest]
    registry = SnapshotRegistry(store.database)
    stretches = (
        list(stretch)
        for used in (launched[-1].used_slices if launched else {}).values()
        for _, stretch in groupby(used, lambda input_: input_.generation)
    )
    return tuple(_read(warehouse, registry, stretch) for stretch in stretches)


def _read(warehouse: Warehouse, registry: SnapshotRegistry, used: Sequence[UsedSlice]) -> SliceRead:
    """Adjacent slices that were read in one generation."""
    last, told = used[-1].slice, [int(input_.version) for input_ in used if input_.version.isdecimal()]
    version = max(told, default=None)
    if last.entity in warehouse.entities and warehouse.is_snapshot(last.entity):
        tagged = registry.get(last.entity, period_of(warehouse.graph, last.entity), last.key)
        version = tagged.version if tagged else None
    return SliceRead(str(used[0].slice), str(last), len(used), used[0].generation, version)

"""The origin of a completed slice: its run, its time, its output and its inputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.fact import SECONDS, SIZE_BYTES
from tidemark.dependency_model.status import Event
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition
    from tidemark.warehouse.warehouse import Warehouse


_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED})


@dataclass(frozen=True)
class ColumnRange:
    """The smallest and the largest value of a column, as texts."""

    minimum: str
    maximum: str


@dataclass(frozen=True)
class SliceRead:
    """Slices of one upstream that were read, with the version of the table if it is known.

    `watermarks` are the high watermarks of the last one, by name.
    """

    first: str
    last: str
    slices: int
    generation: int
    version: int | None
    watermarks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SliceRecord:
    """Facts about a completed slice; None or empty if unknown (seed capability C2).

    `run_id` is the run's id in Dagster, `cluster` the pool that it ran in. `columns` are measured by the profile of
    this version. The other facts are reported by the run, the probe or the other system.
    """

    completed_at: datetime
    who: str
    run_id: str | None
    rows: int | None = None
    size_bytes: int | None = None
    version: int | None = None
    seconds: float | None = None
    read: tuple[SliceRead, ...] = ()
    cluster: str | None = None
    batch_id: str | None = None
    minimum: str | None = None
    maximum: str | None = None
    columns: Mapping[str, ColumnRange] = field(default_factory=dict)
    watermarks: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

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
    """The record of a tainted slice; None for other slices."""
    current = store.read.current(slice_)
    if current is None or not current.status.tainted:
        return None
    marks = [step for step in store.read.history(slice_) if step.event is Event.TAINTED]
    return TaintRecord(marks[-1].who, marks[-1].why, marks[-1].record_time) if marks else None


def slice_record(warehouse: Warehouse, store: StateStore, slice_: Slice) -> SliceRecord | None:
    """The record of a slice; None if it was never complete."""
    history = store.read.history(slice_)
    done = _arrival(history)
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
        cluster=told.cluster or next((step.facts.cluster for step in reversed(history) if step.facts.cluster), None),
        batch_id=told.batch_id,
        minimum=told.minimum,
        maximum=told.maximum,
        columns=_columns(store, slice_, version),
        watermarks=told.watermarks,
        parameters=told.parameters,
    )
    registry = SnapshotRegistry(store.database)
    if warehouse.is_snapshot(slice_.entity):
        tagged = registry.get(slice_.entity, period_of(warehouse.graph, slice_.entity), slice_.key)
        return replace(record, rows=tagged.rows, version=tagged.version) if tagged else record
    return record


def _arrival(history: Sequence[Transition]) -> Transition | None:
    """The transition that brought the slice's rows last."""
    return next((step for step in reversed(history) if step.event in _FINISHED), None)


def _columns(store: StateStore, slice_: Slice, version: str) -> dict[str, ColumnRange]:
    """The ranges of columns in this version of the table, as far as they were measured."""
    stored = SliceProfiles(store.database).of([slice_]).get(slice_)
    if stored is None or str(stored.version) != version:
        return {}
    return {
        name: ColumnRange(column.minimum, column.maximum)
        for name, column in stored.figures.columns.items()
        if column.minimum is not None and column.maximum is not None
    }


def _reads(warehouse: Warehouse, store: StateStore, history: Sequence[Transition]) -> tuple[SliceRead, ...]:
    """Inputs of the newest run, from its launch; for a slice with its earlier result back, of that result."""
    generation = history[-1].status.generation
    launched = [step.facts.manifest for step in history if step.facts.manifest and step.status.generation <= generation]
    registry = SnapshotRegistry(store.database)
    stretches = (
        list(stretch)
        for used in (launched[-1].used_slices if launched else {}).values()
        for _, stretch in groupby(used, lambda input_: input_.generation)
    )
    return tuple(_read(warehouse, store, registry, stretch) for stretch in stretches)


def _read(warehouse: Warehouse, store: StateStore, registry: SnapshotRegistry, used: Sequence[UsedSlice]) -> SliceRead:
    """Adjacent slices that were read in one generation."""
    last, told = used[-1].slice, [int(input_.version) for input_ in used if input_.version.isdecimal()]
    version = max(told, default=None)
    if last.entity in warehouse.entities and warehouse.is_snapshot(last.entity):
        tagged = registry.get(last.entity, period_of(warehouse.graph, last.entity), last.key)
        version = tagged.version if tagged else None
    arrival = _arrival(store.read.history(last))
    watermarks = arrival.facts.watermarks if arrival else {}
    return SliceRead(str(used[0].slice), str(last), len(used), used[0].generation, version, watermarks)

"""How a slice that is there came to be: its run, when, what it wrote, and what it read."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.status import Event
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.warehouse.dagster_partition_keys import partition_of, period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    import dagster as dg

    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition
    from tidemark.warehouse.warehouse import Warehouse


_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED})


@dataclass(frozen=True)
class SliceRead:
    """Slices of one upstream that were read, and the version of the table where it is known."""

    first: str
    last: str
    slices: int
    generation: int
    version: int | None


@dataclass(frozen=True)
class SliceRecord:
    """What is known of a completed slice; None where nobody told it."""

    completed_at: datetime
    who: str
    run_id: str | None
    rows: int | None = None
    size_bytes: int | None = None
    version: int | None = None
    seconds: float | None = None
    read: tuple[SliceRead, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The same for programs."""
        return {**asdict(self), "completed_at": self.completed_at.isoformat()}


@dataclass(frozen=True)
class TaintRecord:
    """Who found a slice, or what it was built from, wrong: why, and when (aware)."""

    who: str
    why: str
    since: datetime

    def as_data(self) -> dict[str, Any]:
        """The same for programs."""
        return {**asdict(self), "since": self.since.isoformat()}


def taint_record(store: StateStore, slice_: Slice) -> TaintRecord | None:
    """Of a slice that is tainted; None for any other."""
    current = store.read.current(slice_)
    if current is None or not current.status.tainted:
        return None
    marks = [step for step in store.read.history(slice_) if step.event is Event.TAINTED]
    return TaintRecord(marks[-1].who, marks[-1].why, marks[-1].record_time) if marks else None


def slice_record(warehouse: Warehouse, store: StateStore, slice_: Slice, home: Path | None) -> SliceRecord | None:
    """The record of a slice; None where it was never complete. `home` is Dagster's, where it has one."""
    history = store.read.history(slice_)
    done = next((step for step in reversed(history) if step.event in _FINISHED), None)
    if done is None:
        return None
    record = SliceRecord(done.event_time, done.who, done.facts.run_id, read=_reads(warehouse, store, history))
    registry = SnapshotRegistry(store.database)
    if warehouse.is_snapshot(slice_.entity):
        tagged = registry.get(slice_.entity, period_of(warehouse.graph, slice_.entity), slice_.key)
        return replace(record, rows=tagged.rows, version=tagged.version) if tagged else record
    return _with_dagsters(warehouse, slice_, record, home) if home else record


def existing_home(home: Path) -> Path | None:
    """Dagster's folder where it has one, and its event log therefore something to tell."""
    return home if (home / "dagster.yaml").is_file() else None


def _reads(warehouse: Warehouse, store: StateStore, history: Iterable[Transition]) -> tuple[SliceRead, ...]:
    """What the newest run was launched with."""
    launched = [step.facts.manifest for step in history if step.facts.manifest]
    registry = SnapshotRegistry(store.database)
    stretches = (
        list(stretch)
        for used in (launched[-1].used_slices if launched else {}).values()
        for _, stretch in groupby(used, lambda input_: input_.generation)
    )
    return tuple(_read(warehouse, registry, stretch) for stretch in stretches)


def _read(warehouse: Warehouse, registry: SnapshotRegistry, used: Sequence[UsedSlice]) -> SliceRead:
    """Neighbours that were read in one generation."""
    last, told = used[-1].slice, [int(input_.version) for input_ in used if input_.version.isdecimal()]
    version = max(told, default=None)
    if last.entity in warehouse.entities and warehouse.is_snapshot(last.entity):
        tagged = registry.get(last.entity, period_of(warehouse.graph, last.entity), last.key)
        version = tagged.version if tagged else None
    return SliceRead(str(used[0].slice), str(last), len(used), used[0].generation, version)


def _with_dagsters(warehouse: Warehouse, slice_: Slice, record: SliceRecord, home: Path) -> SliceRecord:
    """What the newest materialization of the partition says."""
    import dagster as dg  # noqa: PLC0415 - loads for seconds, and most questions are about what waits

    os.environ.setdefault("DAGSTER_HOME", str(home))  # the storage's own configuration may name it
    key = partition_of(warehouse.entities[slice_.entity], slice_)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey([slice_.entity]), asset_partitions=[key] if key else None)
        records = instance.fetch_materializations(wanted, limit=1).records
    event = records[0].asset_materialization if records else None
    if event is None:
        return record
    numbers = {name: _number(event, name) for name in ("dagster/row_count", "bytes", "delta_version", "seconds")}
    rows, size, version, seconds = numbers.values()
    return replace(
        record,
        rows=None if rows is None else int(rows),
        size_bytes=None if size is None else int(size),
        version=None if version is None else int(version),
        seconds=seconds,
    )


def _number(event: dg.AssetMaterialization, name: str) -> float | None:
    value = event.metadata[name].value if name in event.metadata else None
    return float(value) if isinstance(value, int | float) else None

"""Repair of one historical partition of an entity: the source of its rows, and what would change (B9).

A slice of a computed table is a partition. A captured table's slices are versions, so its partition is given by a
column. Snapshots that are tagged already do not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import QualityError, RepairSourceError
from tidemark.compute.table_version_tags import version_of_tag
from tidemark.delta.file_statistics import file_statistics, require_table
from tidemark.delta.repair import repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.dependency_model.slice import Slice
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pyspark.sql import DataFrame

    from tidemark.compute.quality_checks import Audit
    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.delta.delta_rs_table import Partition
    from tidemark.delta.repair import RepairReport
    from tidemark.delta.repair_plan import RepairPlan
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class RepairRequest:
    """The partition to repair, and the source: exactly one of `from_version`, `from_tag` and `recompute`.

    `partition` is a slice's key, or for a captured table `column=value`.
    """

    entity: str
    partition: str
    from_version: int | None = None
    from_tag: str | None = None
    recompute: bool = False


@dataclass(frozen=True)
class PlannedRepair:
    """`slice` is None for a captured table. `downstream` are the past slices that were made from it, nearest first.

    `rows` are the new content, if it is recomputed.
    """

    plan: RepairPlan
    slice: Slice | None
    downstream: tuple[Slice, ...]
    rows: DataFrame | None


def plan(runtime: Runtime, request: RepairRequest, now: datetime) -> PlannedRepair:
    """The effect of the repair, without writing.

    Raises RepairSourceError, UnknownEntityError, and errors of tidemark.delta.repair_plan.plan_repair.
    """
    warehouse = runtime.warehouse
    _refuse_unclear(warehouse, request)
    path = warehouse.table_path(request.entity)
    require_table(path)
    slice_ = None if warehouse.is_snapshot(request.entity) else Slice(request.entity, request.partition)
    partition = _captured_partition(warehouse, request) if slice_ is None else _of_slice(warehouse, slice_)
    repair_plan = plan_repair(runtime.spark.newSession(), path, partition, _source(runtime, request))
    rows = runtime.computer().rows_of(slice_) if slice_ and request.recompute else None
    return PlannedRepair(
        repair_plan, slice_, () if slice_ is None else downstream_slices(warehouse.graph, slice_, now), rows
    )


def carry_out(runtime: Runtime, planned: PlannedRepair) -> tuple[RepairReport, ComputedSlice | None]:
    """Repairs the partition after its rules have passed for the new rows.

    Raises QualityError, which leaves the partition unchanged, and errors of tidemark.delta.repair.repair_partition.
    """
    session = planned.rows.sparkSession if planned.rows is not None else runtime.spark.newSession()
    if planned.slice is None:
        return repair_partition(session, planned.plan, runtime.database, planned.rows), None
    slice_, computer = planned.slice, runtime.computer()
    told: list[Audit] = []

    def audit(rows: DataFrame) -> None:
        told.append(computer.check_rows(slice_, rows))
        _require_unbroken(slice_, told[-1])

    report = repair_partition(session, planned.plan, runtime.database, planned.rows, audit)
    written = computer.check_stored_slice(slice_, told[-1] if told else None)
    _require_unbroken(slice_, written.audit)
    return report, written


def _require_unbroken(slice_: Slice, audit: Audit) -> None:
    if audit.blocks:
        raise QualityError.of(slice_, audit.broken)


def downstream_slices(graph: DependencyGraph, slice_: Slice, now: datetime) -> tuple[Slice, ...]:
    """Every slice up to `now` that is made from `slice_`, over any number of steps, nearest first."""
    seen, waiting = {slice_: None}, [slice_]
    while waiting:
        further = [down for reader in waiting for down in graph.downstream(reader, now)]
        waiting = [
            reader for reader in dict.fromkeys(further) if reader not in seen and graph.window(reader).end <= now
        ]
        seen.update(dict.fromkeys(waiting))
    return tuple(seen)[1:]


def _refuse_unclear(warehouse: Warehouse, request: RepairRequest) -> None:
    warehouse.graph.entity(request.entity)
    given = [request.from_version is not None, request.from_tag is not None, request.recompute]
    if sum(given) != 1:
        raise RepairSourceError.unclear(request.entity, sum(given))
    if request.recompute and warehouse.is_snapshot(request.entity):
        raise RepairSourceError.captured(request.entity)


def _source(runtime: Runtime, request: RepairRequest) -> int | None:
    if request.from_tag is None:
        return request.from_version
    return version_of_tag(runtime.warehouse, runtime.registry, request.entity, request.from_tag)


def _of_slice(warehouse: Warehouse, slice_: Slice) -> Partition:
    if not warehouse.graph.exists(slice_):
        raise RepairSourceError.no_slice(slice_)
    return slice_values(warehouse.entities[slice_.entity], slice_)


def _captured_partition(warehouse: Warehouse, request: RepairRequest) -> Partition:
    """`order_date=2026-03-23` with the type of the table's column."""
    path = warehouse.table_path(request.entity)
    types: Mapping[str, str] = file_statistics(path).types
    name, equals, text = request.partition.partition("=")
    if not equals:
        raise RepairSourceError.no_partition(request.entity, request.partition)
    try:
        return {name: date.fromisoformat(text) if types.get(name) == "date" else text}
    except ValueError as error:
        raise TerminalError("not a date", found=text, where=f"{request.entity} {name}") from error

"""The bodies of assets: the requested slices, the check that inputs are ready, and the results for Dagster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import SnapshotMissingError, UnreadFunctionError
from tidemark.dagster.granted_slice_manifests import granted_manifests, manifest_metadata
from tidemark.dagster.metadata.capture import CaptureMetadata
from tidemark.dagster.metadata.slice import SliceDrawings
from tidemark.dagster.metadata.slice_code import code_metadata
from tidemark.dagster.metadata.unchanged import unchanged_metadata, versions_before
from tidemark.dagster.slice_results import StepResult, slice_results
from tidemark.warehouse.dagster_partition_keys import period_of, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import dagster as dg

    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.dagster.metadata.slice import Metadata
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse


class AssetBody(Protocol):
    """The body of an asset."""

    def __call__(self, context: dg.AssetExecutionContext, runtime: Runtime, entity: Entity) -> Iterator[StepResult]: ...


def requested_slices(context: dg.AssetExecutionContext, entity: Entity) -> list[Slice]:
    """The slices of the run's partition, or range of partitions, in time order."""
    if entity.is_static:
        return [slice_of(entity, None)]
    return [slice_of(entity, key) for key in context.partition_keys]


def snapshot_step(context: dg.AssetExecutionContext, runtime: Runtime, entity: Entity) -> Iterator[StepResult]:
    """ODS: let the capture reach each slice's end, then judge, tag and describe its version."""
    slices = requested_slices(context, entity)
    for slice_ in slices:
        _capture(runtime, slice_)
    computed = runtime.computer().snapshots(slices)
    captured = CaptureMetadata(runtime, entity.name, datetime.now(UTC))
    shown = {result.slice: captured.of_slice(result.slice) for result in computed}
    yield from slice_results(context, entity, runtime, computed, shown, captured.of_table())


def sql_step(context: dg.AssetExecutionContext, runtime: Runtime, entity: Entity) -> Iterator[StepResult]:
    """DWD to ADS: compute each slice whose inputs are all ready."""
    slices = requested_slices(context, entity)
    refuse_unread(runtime.warehouse, entity)
    manifests = granted_manifests(context, runtime, slices)
    before = versions_before(runtime, entity, slices)
    computed = runtime.computer().compute(slices, manifests, runtime.fences.of(context.run.run_id, entity.center))
    for slice_result in computed:
        context.log.info("%s: %d rows in %.2f s", slice_result.slice, slice_result.metrics.rows, slice_result.seconds)
    published = [result for result in computed if result.is_published]
    drawn = _drawings(entity, published) if entity.export and published else {}
    same = unchanged_metadata(runtime, published, before)
    codes = code_metadata(runtime, entity, slices)
    shown = {
        slice_: {
            **drawn.get(slice_, {}),
            **manifest_metadata(manifests[slice_]),
            **codes[slice_],
            **same.get(slice_, {}),
        }
        for slice_ in slices
    }
    yield from slice_results(context, entity, runtime, computed, shown)


def _drawings(entity: Entity, computed: Sequence[ComputedSlice]) -> dict[Slice, Metadata]:
    partitions = {result.slice: slice_values(entity, result.slice) for result in computed}
    drawings = SliceDrawings(entity.name, computed[0].path, list(partitions.values()))
    return {slice_: drawings.metadata(slice_.key, partition) for slice_, partition in partitions.items()}


def _capture(runtime: Runtime, slice_: Slice) -> None:
    period = period_of(runtime.warehouse.graph, slice_.entity)
    reached = runtime.registry.newest(slice_.entity, period, slice_.key)
    if reached is not None and not reached.waits_for_late:
        return
    report = runtime.ingestion.step()
    if runtime.registry.newest(slice_.entity, period, slice_.key) is None:
        raise SnapshotMissingError.of(slice_, "; ".join(str(reason) for reason in report.waiting) or None)


def refuse_unread(warehouse: Warehouse, entity: Entity) -> None:
    """Raise UnreadFunctionError if the reads of the entity's function are unknown: neither inferred nor declared."""
    if entity.name not in warehouse.unread:
        return
    sliced = [
        dependency for dependency in entity.depends_on if warehouse.entities[dependency.entity].period is not None
    ]
    open_ = [dependency.entity for dependency in sliced if dependency.offset is None]
    if open_:
        raise UnreadFunctionError.of(entity.name, open_)

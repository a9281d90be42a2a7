"""Exports ADS slices to the OLAP store of BI tools (B8), in one transaction for each slice, verified before commit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg

from tidemark.compute.business_time import slice_values
from tidemark.dagster.asset_bodies import requested_slices
from tidemark.dagster.granted_slice_manifests import granted_manifests, manifest_metadata
from tidemark.delta.delta_rs_table import read_partition
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.compute.runtime import Runtime
    from tidemark.dagster.slice_results import StepResult
    from tidemark.dependency_model.entity import Entity


def export_step(context: dg.AssetExecutionContext, runtime: Runtime, entity: Entity) -> Iterator[StepResult]:
    """Publish each slice of the ADS entity of this export."""
    slices = requested_slices(context, entity)
    manifests = granted_manifests(context, runtime, slices)
    source = entity.depends_on[0].entity
    path, fence = runtime.warehouse.table_path(source), runtime.fences.of(context.run.run_id, entity.center)
    for slice_ in slices:
        fence()
        started, partition = time.monotonic(), slice_values(entity, slice_)
        publication = runtime.olap.publish(source, read_partition(path, partition), partition)
        metadata = {
            "dagster/row_count": publication.rows,
            "checksum": publication.checksum,
            "seconds": round(time.monotonic() - started, 3),
            **manifest_metadata(manifests[slice_]),
        }
        context.add_asset_metadata(metadata, partition_key=partition_of(entity, slice_))
    yield dg.MaterializeResult(metadata={"table_in_store": source})

"""ADS slices to the OLAP store that BI tools read (B8): a slice a transaction, compared before its commit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg

from tidemark.compute.business_time import partition_values
from tidemark.dagster.asset_bodies import refuse_unready, requested_slices
from tidemark.delta.delta_rs_table import read_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.compute.runtime import Runtime
    from tidemark.dagster.asset_bodies import StepResult
    from tidemark.dependency_model.entity import Entity


def export_step(context: dg.AssetExecutionContext, runtime: Runtime, entity: Entity) -> Iterator[StepResult]:
    """Publish each slice of the ADS entity that this export stands for."""
    slices = requested_slices(context, entity)
    refuse_unready(context.instance, runtime.warehouse, slices)
    source = entity.depends_on[0].entity
    path = runtime.warehouse.table_path(source)
    started = time.monotonic()
    published = []
    for slice_ in slices:
        partition = partition_values(str(entity.period), slice_.key)
        published.append(runtime.olap.publish(source, read_partition(path, partition), partition))
    yield dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(publication.rows for publication in published),
            "table_in_store": source,
            "checksum": published[-1].checksum,
            "seconds": round(time.monotonic() - started, 3),
        }
    )

"""A run's results for promised slices: the check `baseline`, and how early or late they came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from tidemark.dependency_model.baseline.promise import BASELINE_CHECK
from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

MARGIN: Final = "baseline_margin_minutes"
_LONG_AFTER: Final = timedelta(days=1)
"""A slice computed this long after its promise is a backfill, so its margin says nothing about the day."""


def baseline_spec(entity: Entity, partitions: dg.PartitionsDefinition[Any] | None) -> Iterator[dg.AssetCheckSpec]:
    """The check of an entity that promises its slices; none for other entities."""
    if entity.is_promised:
        yield dg.AssetCheckSpec(
            BASELINE_CHECK,
            asset=entity.name,
            description="Fails while the slice's promise (`ready_by`) is at risk or over in the center's forecast.",
            partitions_def=partitions,
        )


def baseline_results(
    context: dg.AssetExecutionContext, entity: Entity, graph: DependencyGraph, slices: list[Slice]
) -> Iterator[dg.Output[None] | dg.AssetCheckEvaluation]:
    """The results of slices that are now there: the promise is no longer at risk, kept or not."""
    spec = next((spec for spec in context.assets_def.check_specs if spec.name == BASELINE_CHECK), None)
    if spec is None:
        return
    yield dg.Output(None, output_name=spec.get_python_identifier())
    now = datetime.now(UTC)
    for slice_ in slices:
        promised = ready_by(entity, graph.window(slice_))
        if promised is None:
            continue
        partition, margin = partition_of(entity, slice_), promised - now
        minutes = {MARGIN: round(margin.total_seconds() / 60, 1)} if margin > -_LONG_AFTER else {}
        context.add_asset_metadata(minutes, partition_key=partition)
        yield dg.AssetCheckEvaluation(
            asset_key=spec.asset_key,
            check_name=BASELINE_CHECK,
            passed=True,
            partition=partition,
            description=f"there {abs(timedelta(seconds=round(margin.total_seconds())))} "
            f"{'before' if margin > timedelta() else 'after'} it was promised for",
            metadata={"promised": promised.isoformat(), **minutes},
        )

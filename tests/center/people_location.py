"""A code location whose assets compute nothing, and ask the product before that what they may read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import dagster as dg

from tidemark.dagster.granted_slice_manifests import granted_manifests, manifest_metadata
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from tidemark.compute.runtime import Runtime

DAYS: Final = ("2026-03-02", "2026-03-03")
READS: Final = {
    "clean": [],
    "kpi": ["clean"],
    "gross": ["clean"],
    "city": ["clean"],
    "board": ["kpi", "gross", "city"],
}
failing: set[str] = set()
"""The runs whose code fails."""
project: SimpleNamespace = SimpleNamespace(warehouse=None, state=None)
"""The present project and its state store, for the steps."""


def _asset(name: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        partitions_def=dg.StaticPartitionsDefinition([*DAYS]),
        deps=READS[name],
        backfill_policy=dg.BackfillPolicy.single_run() if name == "city" else None,
    )
    def computed() -> dg.MaterializeResult[Any]:
        context = dg.AssetExecutionContext.get()
        if name not in project.warehouse.graph:
            return dg.MaterializeResult()
        slices = [Slice(name, key) for key in context.partition_keys]
        manifests = granted_manifests(context, cast("Runtime", project), slices)
        if context.run.run_id in failing:
            raise RuntimeError("the disk is full")
        return dg.MaterializeResult(metadata=manifest_metadata(manifests[slices[0]]) if len(slices) == 1 else {})

    return computed


definitions: Final = dg.Definitions(assets=[_asset(name) for name in READS], executor=dg.in_process_executor)

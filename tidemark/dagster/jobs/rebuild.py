"""A table that a command rebuilds: the slices that are ready by the center's rules, and the report to Dagster."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg

from tidemark.center.foreign_run_judge import RunJudge
from tidemark.compute.rebuild import PlannedRebuild, carry_out
from tidemark.compute.runtime import Runtime
from tidemark.compute.slice_computer import ComputedSlice
from tidemark.dagster.asset_bodies import refuse_unread
from tidemark.dagster.granted_slice_manifests import manifest_metadata
from tidemark.dagster.jobs.repair import QUIET, check_evaluations
from tidemark.dagster.metadata.slice import slice_metadata
from tidemark.dagster.metadata.slice_code import code_metadata
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
from tidemark.dependency_model.slice import Slice
from tidemark.system.crash_points import crash_point
from tidemark.warehouse.dagster_partition_keys import partition_of


class TableRebuild:
    """The rebuild of one entity's table. The slices are chosen once."""

    def __init__(self, instance: dg.DagsterInstance, runtime: Runtime, entity: str) -> None:
        self._instance, self._runtime, self._entity = instance, runtime, runtime.warehouse.entities[entity]
        graph = runtime.warehouse.graph
        refuse_unread(runtime.warehouse, self._entity)
        slices = list(graph.slices(entity, datetime.now(UTC)))
        judged = RunJudge(graph, runtime.state, instance).manifests(slices, "", "")
        self._manifests, waiting = _ready(judged)
        self.planned = PlannedRebuild(entity, tuple(self._manifests), waiting)

    def carry_out(self) -> list[ComputedSlice]:
        """Rebuild the table and report each slice to Dagster, where the center finds it."""
        computed = list(carry_out(self._runtime, self.planned))
        self._tell(computed)
        return computed

    def _tell(self, computed: Sequence[ComputedSlice]) -> None:
        """One run reports all slices, because only results of rules from runs count."""
        codes = code_metadata(self._runtime, self._entity, [result.slice for result in computed])

        @dg.op(name="rebuild_table")
        def tell(context: dg.OpExecutionContext) -> None:
            for result in computed:
                for evaluation in check_evaluations(self._runtime.warehouse, result):
                    context.log_event(evaluation)  # type: ignore[arg-type]  # taken, and not in its annotation
                metadata = {
                    **slice_metadata(result),
                    **manifest_metadata(self._manifests[result.slice]),
                    **codes[result.slice],
                }
                key = partition_of(self._entity, result.slice)
                context.log_event(
                    dg.AssetMaterialization(self._entity.name, description="rebuilt", partition=key, metadata=metadata)
                )
                crash_point("rebuild.told")

        @dg.job(name="rebuild", executor_def=dg.in_process_executor)
        def job() -> None:
            tell()

        job.execute_in_process(run_config=QUIET, instance=self._instance)


def _ready(
    judged: Sequence[SliceManifest],
) -> tuple[dict[Slice, SliceManifest], Mapping[Slice, tuple[Slice, ...]]]:
    """The manifests of slices with all inputs, and the missing inputs of the others, own slices included."""
    ready: dict[Slice, SliceManifest] = {}
    waiting: dict[Slice, tuple[Slice, ...]] = {}
    for manifest in judged:
        used = (used.slice for slices in manifest.used_slices.values() for used in slices)
        missing = [slice_ for clause in manifest.unmet for slice_ in clause.missing]
        missing += [slice_ for slice_ in used if slice_ in waiting]
        if missing or manifest.unmet:
            waiting[manifest.slice] = tuple(missing)
        else:
            ready[manifest.slice] = manifest
    return ready, waiting

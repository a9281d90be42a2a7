"""The repair as a Dagster job. Its launchpad takes the request; its materialization informs the center.

The center treats a new materialization of an existing slice as a backfill: downstream slices get a new generation, or
are requested, by their policy.
"""

from datetime import UTC, datetime
from typing import Any, Final

import dagster as dg
from pydantic import Field

from tidemark.compute.repair import PlannedRepair, RepairRequest, carry_out, plan
from tidemark.compute.runtime import Runtime
from tidemark.compute.slice_computer import ComputedSlice
from tidemark.dagster.jobs.plain_config import PlainConfig, schema_of
from tidemark.dagster.metadata.slice import slice_metadata
from tidemark.dagster.resources import LakeResource, SparkResource, StateStoreResource
from tidemark.dagster.resources.runtimes import Runtimes
from tidemark.dagster.slice_results import anomaly_evaluation, check_severity
from tidemark.dagster_internals.closed_executor import closed_executor
from tidemark.delta.repair import RepairReport
from tidemark.delta.repaired_version import is_repaired_since
from tidemark.dependency_model.slice import Slice
from tidemark.warehouse.dagster_partition_keys import partition_of
from tidemark.warehouse.warehouse import Warehouse

_SHOWN = 100
QUIET: Final = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""All events are in the event log; on the terminal they would hide the command's own output."""


class RepairConfig(PlainConfig):
    """The launchpad's fields."""

    entity: str = Field(description="The table, such as dws_course_orders_1d.")
    partition: str = Field(description="A slice, such as 2026-03-23; for a captured table, column=value.")
    from_version: int | None = Field(default=None, description="The version of the table with the right partition.")
    from_tag: str | None = Field(
        default=None, description="The tag of the version with the right partition, such as 2026-03-29."
    )
    recompute: bool = Field(default=False, description="Compute it again from its inputs instead.")
    dry_run: bool = Field(default=True, description="Show the changes without making them.")

    def request(self) -> RepairRequest:
        """The request without Dagster."""
        return RepairRequest(self.entity, self.partition, self.from_version, self.from_tag, self.recompute)


def repair_job(warehouse: Warehouse) -> dg.JobDefinition:
    """The job `repair`, with one op."""
    runtimes = Runtimes(warehouse)

    @dg.op(
        description="Repair one historical partition; all other partitions stay unchanged. A dry run by default.",
        config_schema=schema_of(RepairConfig),
    )
    def repair_partition(
        context: dg.OpExecutionContext, spark: SparkResource, lake: LakeResource, state_store: StateStoreResource
    ) -> None:
        config = RepairConfig.model_validate(context.op_config)
        runtime = runtimes.of(spark, lake, state_store)
        planned = plan(runtime, config.request(), datetime.now(UTC))
        context.add_output_metadata(as_data(config.entity, planned, None))
        context.log.info("%s: %s (%s)", config.partition, planned.plan.way, planned.plan.reason)
        if config.dry_run:
            return
        report, written = carry_out(runtime, planned)
        context.log.info("it is version %d, %d bytes were written", report.version, report.bytes_written)
        _log(context, runtime, planned, written)

    @dg.job(name="repair", description=repair_partition.description, executor_def=closed_executor)
    def job() -> None:
        repair_partition()

    return job


def tell_repair(
    instance: dg.DagsterInstance, runtime: Runtime, planned: PlannedRepair, written: ComputedSlice | None
) -> None:
    """Report a command's repair to Dagster as a run of this job, because only results of rules from runs count."""

    @dg.op(name="repair_partition")
    def tell(context: dg.OpExecutionContext) -> None:
        _log(context, runtime, planned, written)

    @dg.job(name="repair", executor_def=dg.in_process_executor)
    def job() -> None:
        tell()

    if materialization(runtime, planned, written) is not None:
        job.execute_in_process(run_config=QUIET, instance=instance)


def _log(
    context: dg.OpExecutionContext, runtime: Runtime, planned: PlannedRepair, written: ComputedSlice | None
) -> None:
    if told := materialization(runtime, planned, written):
        for evaluation in check_evaluations(runtime.warehouse, written):
            context.log_event(evaluation)  # type: ignore[arg-type]  # taken, and not in its annotation
        context.log_event(told)


def materialization(
    runtime: Runtime, planned: PlannedRepair, written: ComputedSlice | None
) -> dg.AssetMaterialization | None:
    """The event that reports a slice's new content to Dagster and the center; None if no slice has new content."""
    slice_ = planned.slice
    if (
        slice_ is None
        or written is None
        or (planned.plan.way == "nothing" and not _is_untold(runtime, planned, slice_))
    ):
        return None
    key = partition_of(runtime.warehouse.entities[slice_.entity], slice_)
    metadata = slice_metadata(written)
    return dg.AssetMaterialization(slice_.entity, description="repaired", partition=key, metadata=metadata)


def _is_untold(runtime: Runtime, planned: PlannedRepair, slice_: Slice) -> bool:
    """Whether an earlier process repaired the slice and died before it reported it.

    Then downstream slices are not requested yet.
    """
    told = runtime.state.versions([slice_]).get(slice_, "")
    return told.isdecimal() and is_repaired_since(planned.plan.path, int(told), planned.plan.partition)


def check_evaluations(warehouse: Warehouse, written: ComputedSlice | None) -> list[dg.AssetCheckEvaluation]:
    """The results of the repair's rules, from which the center knows the slice's quality."""
    if written is None:
        return []
    key = dg.AssetKey([written.slice.entity])
    partition = partition_of(warehouse.entities[written.slice.entity], written.slice)
    evaluations = [
        dg.AssetCheckEvaluation(
            key,
            check.name,
            check.passed,
            description=check.reason,
            partition=partition,
            severity=check_severity(check.severity),
        )
        for check in written.audit.checks
    ]
    return evaluations + (
        [anomaly_evaluation(key, verdict, partition, {})] if (verdict := written.audit.anomaly) else []
    )


def as_data(entity: str, planned: PlannedRepair, report: RepairReport | None) -> dict[str, Any]:
    """The repair as JSON; `version` is the newest one, for a dry run the one before the repair."""
    repair_plan = planned.plan
    return {
        "entity": entity,
        "partition": {name: str(value) for name, value in repair_plan.partition.items()},
        "way": repair_plan.way,
        "reason": repair_plan.reason,
        "from_version": repair_plan.source,
        "version": repair_plan.at if report is None else report.version,
        "dry_run": report is None,
        "rows_before": repair_plan.rows_now,
        "rows_after": repair_plan.rows_then if report is None else report.rows,
        "files_removed": len(repair_plan.removed),
        "bytes_removed": repair_plan.bytes_removed,
        "files_restored": len(repair_plan.restored),
        "bytes_restored": repair_plan.bytes_restored,
        "files_written": 0 if report is None else report.files_written,
        "bytes_written": 0 if report is None else report.bytes_written,
        "downstream_count": len(planned.downstream),
        "downstream": [str(slice_) for slice_ in planned.downstream[:_SHOWN]],
    }

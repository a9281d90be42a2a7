"""Clustering as a Dagster job, for tables that declare `cluster_by`: by a schedule, and when a slice completes.

When an hour completes, earlier hours with many small files are clustered with it: late data comes in small files.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, Literal

import dagster as dg
from pydantic import Field

from tidemark.compute.business_time import slice_values
from tidemark.compute.runtime import Runtime
from tidemark.dagster.jobs.plain_config import PlainConfig, schema_of
from tidemark.dagster.metadata.layout_and_capture_plots import bar_plot
from tidemark.dagster.resources import LakeResource, SparkResource
from tidemark.dagster.resources.runtimes import Runtimes
from tidemark.dagster_internals.closed_executor import closed_executor
from tidemark.delta.clustering.cluster_table import MEGABYTE, Clustering, cluster_table
from tidemark.delta.clustering.layout import Layout, layout_of
from tidemark.delta.clustering.report import ClusterReport
from tidemark.delta.clustering.small_files import partition_key, partitions_with_small_files
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.partition_predicate import any_partition_predicate
from tidemark.system.table_location import TableLocation
from tidemark.warehouse.dagster_partition_keys import slice_of
from tidemark.warehouse.warehouse import Warehouse

JOB = "cluster"
_NIGHTLY = "30 4 * * *"
_SMALL_FILES: Final = 8
"""An earlier partition with at least this number of small files is clustered too."""


class ClusterConfig(PlainConfig):
    """The launchpad's fields. The defaults are those of the schedule."""

    entities: list[str] = Field(
        default=[], description="The tables to cluster. Empty: all tables that declare cluster_by."
    )
    partitions: list[str] = Field(
        default=[], description="Only these partitions of one table, with the names that Dagster shows."
    )
    small_files: int = Field(
        default=0,
        ge=0,
        description="Also earlier partitions with at least this many small files; 0 for none. Late files are small.",
    )
    only: Literal["all", "new"] = Field(default="new", description="Files that were not clustered yet, or all files.")
    target_mb: int = Field(default=128, gt=0, description="The target size of a file.")


def clustered_columns(warehouse: Warehouse) -> dict[str, tuple[str, ...]]:
    """The clustering columns of each table that declares them."""
    return {name: entity.cluster_by for name, entity in sorted(warehouse.entities.items()) if entity.cluster_by}


def cluster_job(warehouse: Warehouse) -> dg.JobDefinition:
    """The job `cluster`, with one op."""
    runtimes = Runtimes(warehouse)

    @dg.op(
        description="Rewrite the files of tables, so that each has a narrow range of the columns that filters use.",
        config_schema=schema_of(ClusterConfig),
    )
    def cluster_tables(context: dg.OpExecutionContext, spark: SparkResource, lake: LakeResource) -> None:
        config = ClusterConfig.model_validate(context.op_config)
        runtime = runtimes.of(spark, lake)
        for name, columns in clustered_columns(runtime.warehouse).items():
            if config.entities and name not in config.entities:
                continue
            path = runtime.warehouse.table_path(name)
            if table_exists(path):
                report, metadata = _cluster(runtime, name, path, columns, config)
                context.log.info("%s: %s", name, report)
                context.log_event(dg.AssetObservation(name, metadata=metadata))

    @dg.job(name=JOB, description=cluster_tables.description, executor_def=closed_executor)
    def job() -> None:
        cluster_tables()

    return job


def _cluster(
    runtime: Runtime, name: str, path: TableLocation, columns: tuple[str, ...], config: ClusterConfig
) -> tuple[ClusterReport, dict[str, Any]]:
    clustering = Clustering.by(*columns, target_bytes=config.target_mb * MEGABYTE)
    before = layout_of(path, columns)
    where = _predicate(runtime.warehouse, name, path, config) if config.partitions else None
    report = cluster_table(runtime.spark, path, clustering, where=where, only=config.only)
    return report, cluster_metadata(name, report, before, layout_of(path, columns))


def _predicate(warehouse: Warehouse, name: str, path: TableLocation, config: ClusterConfig) -> str:
    """The condition for the named partitions, and earlier ones with many small files."""
    entity = warehouse.entities[name]
    slices = [slice_of(entity, partition) for partition in config.partitions]
    chosen = {partition_key(slice_values(entity, slice_)): slice_values(entity, slice_) for slice_ in slices}
    if config.small_files:
        crowded = partitions_with_small_files(path, config.small_files, config.target_mb * MEGABYTE / 2)
        last = max(warehouse.graph.window(slice_).end for slice_ in slices)
        # Leave out windows that are not over yet, because their files still arrive.
        earlier = (slice_values(entity, slice_) for slice_ in warehouse.graph.slices(name, last) if crowded)
        chosen |= {key: values for values in earlier if (key := partition_key(values)) in crowded}
    return any_partition_predicate(chosen.values())


def cluster_metadata(name: str, report: ClusterReport, before: Layout, after: Layout) -> dict[str, Any]:
    """An observation's metadata: counts, and a picture of each column's depth before and after."""
    depths = {was.column: (was.depth, now.depth) for was, now in zip(before.columns, after.columns, strict=True)}
    figures = {key: value for key, value in asdict(report).items() if key != "versions"}
    return {
        **figures,
        "depth": dg.MarkdownMetadataValue(bar_plot(f"{name}: files by value", depths, ("before", "after"))),
    }


def nightly(job: dg.JobDefinition, warehouse: Warehouse) -> dg.ScheduleDefinition:
    """A nightly schedule, after the day's data is computed. Tables without new files only cost a look at their log.

    It is on if a table declares `cluster_by`.
    """
    is_on = bool(clustered_columns(warehouse))
    return dg.ScheduleDefinition(
        name="cluster_nightly",
        job=job,
        cron_schedule=_NIGHTLY,
        execution_timezone=warehouse.settings.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED,
    )


def run_config(name: str, partitions: Sequence[str]) -> dict[str, Any]:
    """The run configuration for completed slices; without partitions it covers all new files."""
    asked = {"entities": [name], "partitions": [*partitions], "small_files": _SMALL_FILES}
    return {"ops": {"cluster_tables": {"config": asked}}}

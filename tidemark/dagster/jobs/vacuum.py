"""VACUUM as a Dagster job. Its launchpad has the tables, the retention, and whether files are deleted."""

from datetime import timedelta
from typing import Any

import dagster as dg
from pydantic import Field

from tidemark.compute.runtime import Runtime
from tidemark.compute.vacuum import plan_entity_vacuum, vacuum_as_data, vacuum_entity
from tidemark.dagster.jobs.plain_config import PlainConfig, schema_of
from tidemark.dagster.resources import LakeResource, StateStoreResource
from tidemark.dagster.resources.runtimes import Runtimes
from tidemark.dagster_internals.closed_executor import closed_executor
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.retention import Retention
from tidemark.warehouse.warehouse import Warehouse


class VacuumConfig(PlainConfig):
    """The launchpad's fields."""

    entities: list[str] = Field(default=[], description="The tables to vacuum. Empty: all tables.")
    keep_versions: int = Field(default=10, gt=0, description="How many of the last versions to keep.")
    keep_days: int = Field(default=7, ge=0, description="Keep what was readable within this number of days.")
    dry_run: bool = Field(default=True, description="Show what would be deleted and kept, without deleting.")

    def retention(self) -> Retention:
        """The retention without Dagster."""
        return Retention(self.keep_versions, timedelta(days=self.keep_days))


def vacuum_job(warehouse: Warehouse) -> dg.JobDefinition:
    """The job `vacuum`, with one op."""
    runtimes = Runtimes(warehouse)

    @dg.op(
        description="Delete the files of versions that are no longer needed. A dry run by default.",
        config_schema=schema_of(VacuumConfig),
    )
    def vacuum_tables(context: dg.OpExecutionContext, lake: LakeResource, state_store: StateStoreResource) -> None:
        config = VacuumConfig.model_validate(context.op_config)
        runtime = runtimes.of(lake, state_store)
        for name in config.entities or tables(runtime.warehouse):
            report = _vacuum(runtime, name, config)
            context.log.info("%s: %d files, %d bytes", name, report["files_deleted"], report["bytes_deleted"])
            context.log_event(dg.AssetObservation(name, metadata=report))

    @dg.job(name="vacuum", description=vacuum_tables.description, executor_def=closed_executor)
    def job() -> None:
        vacuum_tables()

    return job


def tables(warehouse: Warehouse) -> list[str]:
    """The entities with an existing Delta table of their own."""
    own = (name for name, entity in warehouse.entities.items() if entity.snapshot_of is None)
    return sorted(name for name in own if table_exists(warehouse.table_path(name)))


def _vacuum(runtime: Runtime, name: str, config: VacuumConfig) -> dict[str, Any]:
    work = plan_entity_vacuum if config.dry_run else vacuum_entity
    report = vacuum_as_data(name, work(runtime.warehouse, runtime.registry, name, config.retention()), config.dry_run)
    return {**report, "kept": [version["version"] for version in report["kept"]]}

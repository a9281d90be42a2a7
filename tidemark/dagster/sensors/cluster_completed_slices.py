"""A slice of a table that declares `cluster_by` is clustered as it completes."""

import dagster as dg

from tidemark.dagster.jobs.cluster import JOB, clustered_columns, run_config
from tidemark.warehouse.warehouse import Warehouse


def cluster_sensors(warehouse: Warehouse) -> list[dg.SensorDefinition]:
    """For each table that declares `cluster_by` and has a partition a slice: its completion compacts that partition."""
    return [_on_completion(name) for name in clustered_columns(warehouse) if not warehouse.is_snapshot(name)]


def _on_completion(name: str) -> dg.SensorDefinition:
    @dg.asset_sensor(asset_key=dg.AssetKey(name), job_name=JOB, name=f"cluster_{name}")
    def completed(context: dg.SensorEvaluationContext, event: dg.EventLogEntry) -> dg.RunRequest | None:  # noqa: ARG001
        partition = event.dagster_event.partition if event.dagster_event else None
        if partition is None:
            return None
        return dg.RunRequest(run_key=str(event.run_id) + partition, run_config=run_config(name, partition))

    return completed

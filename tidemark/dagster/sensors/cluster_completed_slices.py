"""A table that declares `cluster_by` is clustered as its slices complete, or its hours by counts (C4)."""

import dagster as dg

from tidemark.dagster.jobs.cluster import JOB, clustered_columns, run_config
from tidemark.dependency_model.time.period import Period
from tidemark.warehouse.warehouse import Warehouse


def cluster_sensors(warehouse: Warehouse) -> list[dg.SensorDefinition]:
    """For each table that declares `cluster_by`: what completes lets its files be compacted.

    Of a table with a partition a slice that is the slice; of one whose records are counted it is each hour's window: a
    day of 24 of them is compact already when it is complete.
    """
    clustered = clustered_columns(warehouse)
    slices = [_on_completion(name, name, by_partition=True) for name in clustered if not warehouse.is_snapshot(name)]
    windows = [
        _on_completion(window, name, by_partition=_has_hours(warehouse, name))
        for window, name in hourly_windows(warehouse)
        if name in clustered
    ]
    return [*slices, *windows]


def hourly_windows(warehouse: Warehouse) -> list[tuple[str, str]]:
    """(window, table) of each entity that completes hours by the counts of a table."""
    return [
        (name, entity.probe.counts.of)
        for name, entity in sorted(warehouse.entities.items())
        if entity.period is Period.HOUR and entity.probe is not None and entity.probe.counts is not None
    ]


def _has_hours(warehouse: Warehouse, name: str) -> bool:
    return warehouse.entities[name].period is Period.HOUR and not warehouse.is_snapshot(name)


def _on_completion(watched: str, name: str, *, by_partition: bool) -> dg.SensorDefinition:
    """Without partitions of the same hours all files that are new are clustered."""

    @dg.asset_sensor(asset_key=dg.AssetKey(watched), job_name=JOB, name=f"cluster_{watched}")
    def completed(context: dg.SensorEvaluationContext, event: dg.EventLogEntry) -> dg.RunRequest | None:  # noqa: ARG001
        partition = event.dagster_event.partition if event.dagster_event else None
        if partition is None:
            return None
        key = f"{event.run_id}{partition}" if watched == name else f"{watched}{partition}{event.timestamp}"
        return dg.RunRequest(run_key=key, run_config=run_config(name, partition if by_partition else ""))

    return completed

"""Clusters a table that declares `cluster_by` when its slices complete, or when its hours complete by counts (C4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dagster.jobs.cluster import JOB, clustered_columns, run_config
from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.warehouse.warehouse import Warehouse

_AT_ONCE: Final = 200
"""The most completions that one evaluation takes."""


def cluster_sensors(warehouse: Warehouse) -> list[dg.SensorDefinition]:
    """A sensor for each table that declares `cluster_by`, which compacts the files of completed slices.

    Tables with partitions are clustered by slice. Tables with counted records are clustered by each hour's window, so a
    day is compact as soon as it is complete.
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
    """(window, table) of each entity whose hours complete by the counts of a table."""
    return [
        (name, entity.probe.counts.of)
        for name, entity in sorted(warehouse.entities.items())
        if entity.period is Period.HOUR and entity.probe is not None and entity.probe.counts is not None
    ]


def _has_hours(warehouse: Warehouse, name: str) -> bool:
    return warehouse.entities[name].period is Period.HOUR and not warehouse.is_snapshot(name)


def _on_completion(watched: str, name: str, *, by_partition: bool) -> dg.SensorDefinition:
    """A sensor with one run for all completions since its last evaluation.

    Dagster's asset sensor would see only the last completion. Without partitions of these hours, all new files are
    clustered.
    """

    @dg.sensor(
        name=f"cluster_{watched}",
        job_name=JOB,
        description=f"Clusters the files of {name} as slices of {watched} complete.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def completed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        records = _completions(context, watched)
        if not records:
            # Later completions are all seen, however many there are.
            context.update_cursor(context.cursor or "0")
            return dg.SkipReason(f"No slice of {watched} has completed since.")
        newest = str(max(record.storage_id for record in records))
        partitions = sorted({record.partition_key for record in records if record.partition_key})
        config = run_config(name, partitions if by_partition else ())
        requests = [dg.RunRequest(run_key=f"{watched} {newest}", run_config=config)] if partitions else []
        return dg.SensorResult(run_requests=requests, cursor=newest)

    return completed


def _completions(context: dg.SensorEvaluationContext, watched: str) -> Sequence[dg.EventLogRecord]:
    """The next completions after the cursor.

    At first only the last one, because the nightly job covers earlier ones.
    """
    after = int(context.cursor) if context.cursor else None
    wanted = dg.AssetRecordsFilter(dg.AssetKey(watched), after_storage_id=after)
    is_first = after is None
    limit = 1 if is_first else _AT_ONCE
    return context.instance.fetch_materializations(wanted, limit=limit, ascending=not is_first).records

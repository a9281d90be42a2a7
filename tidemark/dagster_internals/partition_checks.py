"""Results of a check on one partition that no run reports.

Without a run, Dagster keeps one result for each check and partition. Under an id that belongs to no run, it keeps one
for each of these ids, and its pages show the newest. The page of a check's partitions shows a result only if it names
the partition's newest materialization. It shows others as missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster import DagsterEventType
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.event_api import PartitionKeyFilter
from dagster._record import replace

if TYPE_CHECKING:
    from dagster import AssetCheckEvaluation, DagsterInstance

_JOB: Final = "center"


def report_check(instance: DagsterInstance, evaluation: AssetCheckEvaluation, reported_as: str) -> None:
    """Report a result. A later report with the same id replaces it."""
    event = dg.DagsterEvent(
        event_type_value=DagsterEventType.ASSET_CHECK_EVALUATION.value,
        job_name=_JOB,
        event_specific_data=of_newest_materialization(instance, evaluation),
    )
    instance.report_dagster_event(event, run_id=reported_as)


def of_newest_materialization(instance: DagsterInstance, evaluation: AssetCheckEvaluation) -> AssetCheckEvaluation:
    """The result for the partition's newest materialization; unchanged if there is none."""
    partitions = [evaluation.partition] if evaluation.partition else None
    wanted = dg.AssetRecordsFilter(evaluation.asset_key, asset_partitions=partitions)
    newest = next(iter(instance.fetch_materializations(wanted, limit=1).records), None)
    if newest is None:
        return evaluation
    target = AssetCheckEvaluationTargetMaterializationData(
        storage_id=newest.storage_id, run_id=newest.run_id, timestamp=newest.timestamp
    )
    return replace(evaluation, target_materialization_data=target)


def newest_result(instance: DagsterInstance, check: dg.AssetCheckKey, partition: str) -> AssetCheckEvaluation | None:
    """The result on Dagster's pages for a partition; None if there is none, or a run is still to report one."""
    of_partition = PartitionKeyFilter(key=partition)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key([check], of_partition)
    event = records[check].event if check in records else None
    told = event.dagster_event if event else None
    is_result = told is not None and told.event_type is DagsterEventType.ASSET_CHECK_EVALUATION
    return told.asset_check_evaluation_data if told is not None and is_result else None

"""Results of a check on one partition that no run reports.

Of what no run reports Dagster keeps one result for each check and partition, for ever. Under an id that is no run's it
keeps one for each of these ids, and its pages show the newest. The page of a check's partitions shows a result only
where it says that it is of the partition's newest materialization, and calls the others missing.
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
    """Show the result; what is reported again under the same id takes the place of the first."""
    event = dg.DagsterEvent(
        event_type_value=DagsterEventType.ASSET_CHECK_EVALUATION.value,
        job_name=_JOB,
        event_specific_data=of_newest_materialization(instance, evaluation),
    )
    instance.report_dagster_event(event, run_id=reported_as)


def of_newest_materialization(instance: DagsterInstance, evaluation: AssetCheckEvaluation) -> AssetCheckEvaluation:
    """The same result, of what the partition holds now; as it is where nothing is there."""
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
    """What Dagster's pages show of a partition; None where it has no result, or a run is to bring one still."""
    of_partition = PartitionKeyFilter(key=partition)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key([check], of_partition)
    event = records[check].event if check in records else None
    told = event.dagster_event if event else None
    is_result = told is not None and told.event_type is DagsterEventType.ASSET_CHECK_EVALUATION
    return told.asset_check_evaluation_data if told is not None and is_result else None

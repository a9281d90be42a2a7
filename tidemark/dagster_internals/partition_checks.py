"""Results of a check on one partition that no run reports.

Of what no run reports Dagster keeps one result for each check and partition, for ever. Under an id that is no run's it
keeps one for each of these ids, and its pages show the newest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster import DagsterEventType

if TYPE_CHECKING:
    from dagster import AssetCheckEvaluation, DagsterInstance

_JOB: Final = "center"


def report_check(instance: DagsterInstance, evaluation: AssetCheckEvaluation, reported_as: str) -> None:
    """Show the result; what is reported again under the same id takes the place of the first."""
    event = dg.DagsterEvent(
        event_type_value=DagsterEventType.ASSET_CHECK_EVALUATION.value,
        job_name=_JOB,
        event_specific_data=evaluation,
    )
    instance.report_dagster_event(event, run_id=reported_as)

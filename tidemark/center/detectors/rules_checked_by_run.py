"""Which rules of an entity a run has evaluated itself: what it materialized has passed by them, and by nothing else.

Anybody who reaches Dagster can report a materialization, and a check's result, without a run. These say nothing of the
data: a slice is `quality unknown` until a run of the entity's own asset has checked it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
from dagster import DagsterEventType

from tidemark.dependency_model.baseline.promise import BASELINE_CHECK

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity


class RunChecks:
    """The check results in one Dagster storage, read once a run; to be made anew for each look at the event log."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._passed: dict[str, dict[tuple[str, str, str | None], bool]] = {}

    def have_passed(self, run_id: str, entity: Entity, partition: str | None) -> bool:
        """Whether the run evaluated as many checks of the entity as it has rules, and all held for this partition.

        The check of its promise says nothing of its rows. A check without partitions speaks for all of them; one that
        only warns is told and keeps nothing back.
        """
        if run_id not in self._passed:
            self._passed[run_id] = self._results(run_id)
        results = [
            passed
            for (asset, name, of), passed in self._passed[run_id].items()
            if asset == entity.name and name != BASELINE_CHECK and of in (None, partition)
        ]
        return len(results) >= max(len(entity.quality), 1) and all(results)

    def _results(self, run_id: str) -> dict[tuple[str, str, str | None], bool]:
        """By asset, check and partition; nothing without a run. The last one counts: a step may be tried again."""
        if not self._instance.has_run(run_id):
            return {}
        events = self._instance.all_logs(run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
        evaluations = [
            entry.dagster_event.asset_check_evaluation_data for entry in events if entry.dagster_event is not None
        ]
        return {
            (evaluation.asset_key.to_user_string(), evaluation.check_name, evaluation.partition): evaluation.passed
            or evaluation.severity is dg.AssetCheckSeverity.WARN
            for evaluation in evaluations
        }

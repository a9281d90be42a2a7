"""Which rules of an entity a run has evaluated itself: what it materialized has passed by them, and by nothing else.

Anybody who reaches Dagster can report a materialization, and a check's result, without a run. These say nothing of the
data: a slice is `quality unknown` until a run of the entity's own asset has checked it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import dagster as dg
from dagster import DagsterEventType

from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.dependency_model.baseline.promise import BASELINE_CHECK
from tidemark.dependency_model.status.flaws import VALIDITY_CHECK
from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity


UNKNOWN_KEY: Final = "tidemark/unknown"
"""Metadata of the check of a rule that crashed."""
_NO_RULES: Final = frozenset({BASELINE_CHECK, VALIDITY_CHECK})
"""Checks that say nothing of a slice's rows."""


class RuleResult(NamedTuple):
    """What a run found of one rule on one partition; one that `warns` keeps nothing back, a crashed one is unknown."""

    passed: bool
    warns: bool
    reason: str
    is_unknown: bool


class RunChecks:
    """The check results in one Dagster storage, read once a run; to be made anew for each look at the event log."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._told: dict[str, dict[tuple[str, str, str | None], RuleResult]] = {}

    def have_passed(self, run_id: str, entity: Entity, partition: str | None) -> bool:
        """Whether the run evaluated as many checks of the entity as it has rules, and all held for this partition.

        The check of its promise says nothing of its rows. A check without partitions speaks for all of them; one that
        only warns is told and keeps nothing back.
        """
        results = self._of_slice(run_id, entity, partition)
        of_rules = results.keys() - {CHECK_NAME}
        held = all(result.passed or result.warns for result in results.values())
        return len(of_rules) >= max(len(entity.quality), 1) and held

    def broken(self, run_id: str, entity: Entity, partition: str | None) -> str:
        """Each rule that did not hold, and what was expected and found, cut to some length; empty where all held."""
        results = self._of_slice(run_id, entity, partition)
        told = [f"{name}: {result.reason}" for name, result in results.items() if not result.passed]
        return one_line("; ".join(told))

    def have_refused(self, run_id: str, entity: Entity, partition: str | None) -> bool:
        """Whether a blocking rule is known to be broken on this partition; a rule that crashed says nothing of it."""
        results = self._of_slice(run_id, entity, partition).values()
        return any(not (result.passed or result.warns or result.is_unknown) for result in results)

    def _of_slice(self, run_id: str, entity: Entity, partition: str | None) -> dict[str, RuleResult]:
        if run_id not in self._told:
            self._told[run_id] = self._results(run_id)
        return {
            name: result
            for (asset, name, of), result in self._told[run_id].items()
            if asset == entity.name and name not in _NO_RULES and of in (None, partition)
        }

    def _results(self, run_id: str) -> dict[tuple[str, str, str | None], RuleResult]:
        """By asset, check and partition; nothing without a run. The last one counts: a step may be tried again."""
        if not self._instance.has_run(run_id):
            return {}
        events = self._instance.all_logs(run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
        evaluations = [
            entry.dagster_event.asset_check_evaluation_data for entry in events if entry.dagster_event is not None
        ]
        return {
            (evaluation.asset_key.to_user_string(), evaluation.check_name, evaluation.partition): RuleResult(
                evaluation.passed,
                evaluation.severity is dg.AssetCheckSeverity.WARN,
                evaluation.description or "broken",
                UNKNOWN_KEY in evaluation.metadata,
            )
            for evaluation in evaluations
        }

"""Rules that a run has evaluated itself: only these count as passed.

Any user of Dagster can report a materialization, or a check's result, without a run. These say nothing about the data:
a slice is `quality unknown` until a run of the entity's asset has checked it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import dagster as dg
from dagster import DagsterEventType

from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.dagster_internals.stored_runs import kept_check_results
from tidemark.dependency_model.baseline.promise import BASELINE_CHECK
from tidemark.dependency_model.status.flaws import VALIDITY_CHECK
from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.entity import Entity


UNKNOWN_KEY: Final = "tidemark/unknown"
"""Metadata of the check of a crashed rule."""
_NO_RULES: Final = frozenset({BASELINE_CHECK, VALIDITY_CHECK})
"""Checks that say nothing about a slice's rows."""


class RuleResult(NamedTuple):
    """The result of one rule for one partition; `warns` does not block, and a crashed rule is unknown."""

    passed: bool
    warns: bool
    reason: str
    is_unknown: bool


class RunChecks:
    """Check results in one Dagster storage, read once for each run; create a new one for each read of the event log."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._told: dict[tuple[str, str], dict[tuple[str, str, str | None], RuleResult]] = {}

    def have_passed(self, run_id: str, entity: Entity, partition: str | None) -> bool:
        """Whether the run evaluated all rules of the entity, and all passed for this partition.

        The check of a promise does not count. A check without partitions counts for all of them. Warnings block
        nothing.
        """
        results = self._of_slice(run_id, entity, partition)
        of_rules = results.keys() - {CHECK_NAME}
        held = all(result.passed or result.warns for result in results.values())
        return len(of_rules) >= max(len(entity.quality), 1) and held

    def broken(self, run_id: str, entity: Entity, partition: str | None) -> str:
        """Each failed rule with expected and found values, shortened; empty if all passed."""
        results = self._of_slice(run_id, entity, partition)
        told = [f"{name}: {result.reason}" for name, result in results.items() if not result.passed]
        return one_line("; ".join(told))

    def have_refused(self, run_id: str, entity: Entity, partition: str | None) -> bool:
        """Whether a blocking rule failed for this partition; a crashed rule does not count."""
        results = self._of_slice(run_id, entity, partition).values()
        return any(not (result.passed or result.warns or result.is_unknown) for result in results)

    def _of_slice(self, run_id: str, entity: Entity, partition: str | None) -> dict[str, RuleResult]:
        key = (run_id, "" if self._instance.has_run(run_id) else entity.name)
        if key not in self._told:
            self._told[key] = self._results(*key)
        return {
            name: result
            for (asset, name, of), result in self._told[key].items()
            if asset == entity.name and name not in _NO_RULES and of in (None, partition)
        }

    def _results(self, run_id: str, removed_of: str) -> dict[tuple[str, str, str | None], RuleResult]:
        """By asset, check and partition; empty without a run. For a removed run, those of the asset `removed_of`.

        The last result counts, because a step may be repeated.
        """
        kind = DagsterEventType.ASSET_CHECK_EVALUATION
        events: Sequence[dg.EventLogEntry]
        if removed_of:
            events = kept_check_results(self._instance, run_id, removed_of) if run_id else []
        else:
            events = self._instance.all_logs(run_id, of_type=kind)
        evaluations = [
            event.asset_check_evaluation_data
            for entry in events
            if (event := entry.dagster_event) is not None and event.event_type is kind
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

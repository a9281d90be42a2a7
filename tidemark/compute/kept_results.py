"""Results of rules in the form of the state store, for queries with SQL (A5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.dependency_model.entity.quality_rules import check_names
from tidemark.dependency_model.entity.rule_text import rule_text
from tidemark.state_store.rule_results import StoredRuleResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from tidemark.compute.check_result import CheckResult
    from tidemark.compute.quality_checks import Audit
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.rule_results import RuleOutcome

ON_ANOMALY: Final = "on_anomaly:"
"""The prefix of rules that ran because of an anomaly."""
_AS_USUAL: Final = "as usual"


class JudgedVersion(NamedTuple):
    """The judged version of the table; None if it was not published. See StoredRuleResult."""

    version: int | None
    late_batch: int = 0
    table_state: str = ""


def results_of(entity: Entity, slice_: Slice, told: Audit, of: JudgedVersion, now: datetime) -> list[StoredRuleResult]:
    """One result for each rule, including rules of an anomaly; empty for an entity without rules."""
    return [
        StoredRuleResult(
            slice_,
            name,
            now,
            check.severity,
            _outcome(check),
            expected,
            check.reason,
            check.figures,
            told.rows,
            *of,
        )
        for name, expected, check in _named(entity, told)
    ] + _of_anomaly(slice_, told, of, now)


def _named(entity: Entity, told: Audit) -> Iterator[tuple[str, str, CheckResult]]:
    deeper = told.anomaly.deeper if told.anomaly else ()
    for prefix, rules, checks in (("", entity.quality, told.checks), (ON_ANOMALY, entity.quality_on_anomaly, deeper)):
        texts = dict(zip(check_names(rules), map(rule_text, rules), strict=True))
        yield from ((f"{prefix}{check.name}", texts[check.name], check) for check in checks)


def _of_anomaly(slice_: Slice, told: Audit, of: JudgedVersion, now: datetime) -> list[StoredRuleResult]:
    if told.anomaly is None:
        return []
    verdict = told.anomaly
    severity, outcome = verdict.policy.value, _passed_or_broken(passed=verdict.passed)
    measured: Mapping[str, object] = verdict.figures
    return [
        StoredRuleResult(
            slice_, CHECK_NAME, now, severity, outcome, _AS_USUAL, verdict.reason, measured, told.rows, *of
        )
    ]


def _outcome(check: CheckResult) -> RuleOutcome:
    return "unknown" if check.is_unknown else _passed_or_broken(passed=check.passed)


def _passed_or_broken(*, passed: bool) -> RuleOutcome:
    return "passed" if passed else "broken"

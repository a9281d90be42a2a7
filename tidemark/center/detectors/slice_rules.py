"""Evaluates the rules of an external slice from a probe's counts (A5)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from tidemark.compute.rule_measures import words
from tidemark.dependency_model.entity.quality_rules import Freshness, RowCount, check_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.quality_rules import QualityRule


class RuleVerdict(NamedTuple):
    """The result of one rule for one slice; `reason` has expected and found values; `warns` does not block."""

    name: str
    passed: bool
    reason: str
    warns: bool = False

    @property
    def holds_back(self) -> bool:
        """Whether the slice must not be read."""
        return not self.passed and not self.warns


def judge(entity: Entity, sight: Sight) -> tuple[RuleVerdict, ...]:
    """One verdict for each rule. Declarations with rules that the source cannot count are refused earlier."""
    measured = dict(sight.measured)
    rules = zip(check_names(entity.quality), entity.quality, strict=True)
    return tuple(_judge(name, rule, sight.rows, measured) for name, rule in rules)


def _judge(name: str, rule: QualityRule, rows: int | None, measured: Mapping[str, float | None]) -> RuleVerdict:
    if isinstance(rule, RowCount):
        passed, reason = _by_count(rule, rows)
    elif name not in measured:
        passed, reason = False, f"the source did not count the rule {rule.NAME}"
    elif isinstance(rule, Freshness):
        passed, reason = _by_age(rule, measured[name])
    else:
        broken = int(measured[name] or 0)
        passed, reason = not broken, f"{broken} rows {words(rule)}"
    return RuleVerdict(name, passed=passed, reason=reason, warns=rule.severity == "warn")


def _by_count(rule: RowCount, rows: int | None) -> tuple[bool, str]:
    band = f"at least {rule.min}" if rule.max is None else f"{rule.min} to {rule.max}"
    if rows is None:
        return False, f"the source did not count the rows, expected {band}"
    passed = rows >= rule.min and (rule.max is None or rows <= rule.max)
    return passed, f"{rows} rows, expected {band}"


def _by_age(rule: Freshness, seconds: float | None) -> tuple[bool, str]:
    if seconds is None:
        return False, f"no row has a {rule.column}"
    age = timedelta(seconds=seconds)
    return (
        age <= rule.within,
        f"the newest {rule.column} is {age} before the slice's end, expected at most {rule.within}",
    )

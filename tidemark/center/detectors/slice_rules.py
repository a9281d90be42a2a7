"""Whether the rules of an external slice hold, by what a probe saw of it (A5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidemark.dependency_model.entity.quality_rules import RowCount, check_names

if TYPE_CHECKING:
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity


class RuleVerdict(NamedTuple):
    """One rule on one slice; `reason` says what was expected and found; one that `warns` is told and nothing else."""

    name: str
    passed: bool
    reason: str
    warns: bool = False

    @property
    def holds_back(self) -> bool:
        """Whether the slice must not be read."""
        return not self.passed and not self.warns


def judge(entity: Entity, sight: Sight) -> tuple[RuleVerdict, ...]:
    """A verdict a rule. A probe counts rows alone: declarations with other rules are refused."""
    rules = zip(check_names(entity.quality), entity.quality, strict=True)
    return tuple(_judge(name, rule, sight.rows) for name, rule in rules if isinstance(rule, RowCount))


def _judge(name: str, rule: RowCount, rows: int | None) -> RuleVerdict:
    band = f"at least {rule.min}" if rule.max is None else f"{rule.min} to {rule.max}"
    warns = rule.severity == "warn"
    if rows is None:
        return RuleVerdict(
            name, passed=False, reason=f"the source does not tell how many rows, expected {band}", warns=warns
        )
    passed = rows >= rule.min and (rule.max is None or rows <= rule.max)
    return RuleVerdict(name, passed=passed, reason=f"{rows} rows, expected {band}", warns=warns)

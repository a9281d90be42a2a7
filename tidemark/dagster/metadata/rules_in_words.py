"""Quality rules as a sentence: what Dagster's page of a check says that it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.quality_rules import AcceptedValues, NotNull, Reconcile, RowCount, Unique

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.entity.quality_rules import QualityRule


def rule_in_words(rule: QualityRule) -> str:
    """What a slice's rows must be like. Raises TypeError for a rule that has no sentence."""
    match rule:
        case NotNull(columns=columns):
            return f"No row has NULL in {_listed(columns)}."
        case Unique(columns=columns):
            return f"No two rows of a slice have the same {_listed(columns)}."
        case RowCount(min=low, max=None):
            return f"A slice has at least {low} rows."
        case RowCount(min=low, max=high):
            return f"A slice has {low} to {high} rows."
        case AcceptedValues(column=column, values=values):
            return f"{column} is one of {_listed(map(str, values))}."
        case Reconcile(value=value, equals=equals, tolerance=tolerance):
            near = f", {tolerance:.4%} more or less" if tolerance else ""
            return f"{value} of a slice equals `{equals}`{near}."
        case _:
            raise TypeError(f"no sentence for the quality rule {rule!r}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)

"""Quality rules as sentences, for Dagster's pages of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Drift,
    Expression,
    Freshness,
    NoRows,
    NotNull,
    Pattern,
    Reconcile,
    Referential,
    RowCount,
    Unique,
    WithinRange,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.entity.quality_rules import QualityRule


def rule_in_words(rule: QualityRule) -> str:
    """The sentence of a rule about a slice's rows. Raises TypeError for a rule without a sentence."""
    where = f" Only rows where {rule.where}." if rule.where else ""
    only_told = " A warning: it does not block." if rule.severity == "warn" else ""
    return f"{_sentence(rule)}.{where}{only_told}"


def _sentence(rule: QualityRule) -> str:
    match rule:
        case RowCount():
            return f"A slice has {', '.join(_counts(rule))}"
        case Reconcile(value=value, equals=equals, tolerance=tolerance):
            near = f", {tolerance:.4%} more or less" if tolerance else ""
            return f"{value} of a slice equals `{equals}`{near}"
        case NoRows(no_rows=query):
            return f"`{query}` returns no rows"
        case Freshness(column=column, within=within):
            return f"The newest {column} of a slice is at most {within} before its end"
        case Drift(column=column, at_most=most):
            return f"The distribution of {column} is at most {most:g} (0 to 1) from that of the same weekday before"
        case _:
            return _sentence_of_rows(rule)


def _sentence_of_rows(rule: QualityRule) -> str:
    match rule:
        case NotNull(columns=columns):
            return f"No row has NULL in {_listed(columns)}"
        case Unique(columns=columns):
            return f"No two rows of a slice have the same {_listed(columns)}"
        case AcceptedValues(column=column, values=values):
            return f"{column} is one of {_listed(map(str, values))}"
        case Referential(columns=columns, entity=entity):
            return f"{_listed(columns)} is a key of {entity}, {_listed(rule.keys)}"
        case _:
            return _sentence_of_values(rule)


def _sentence_of_values(rule: QualityRule) -> str:
    match rule:
        case WithinRange(column=column, min=low, max=high):
            ends = ((low, "at least"), (high, "at most"))
            return f"{column} is {' and '.join(f'{words} {end}' for end, words in ends if end is not None)}"
        case Pattern(column=column, matches=pattern):
            return f"{column} matches `{pattern}`"
        case Expression(holds=condition):
            return f"`{condition}` holds"
        case _:
            raise TypeError(f"no sentence for the quality rule {rule!r}")


def _counts(rule: RowCount) -> Iterator[str]:
    yield f"at least {rule.min} rows" if rule.max is None else f"{rule.min} to {rule.max} rows"
    if rule.growth is not None:
        yield f"within {rule.growth:.0%} of the slice before"
    if rule.same_weekday is not None:
        yield f"within {rule.same_weekday:.0%} of the median of the same weekday"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)

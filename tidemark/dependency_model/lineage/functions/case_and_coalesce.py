"""CASE, IF, coalesce and similar functions, which choose one of several values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.comparison_operators import is_null
from tidemark.dependency_model.lineage.value_range import Range, Special, Value, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.dependency_model.lineage.comparison_operators import SqlComparison


def _case(comparison: SqlComparison, values: Sequence[Value]) -> Value:
    """The arguments are condition, value, condition, value, ..., default."""
    return case_over(comparison, values, lambda value: value)


def case_over(comparison: SqlComparison, values: Sequence[Value], compute: Callable[[Value], Value]) -> Value:
    """The result of a function of a CASE, computed for each of its values."""
    *pairs, default = values
    *chosen, last = _of_one_type(comparison, [*pairs[1::2], default])
    outcome = compute(last)
    for condition, value in reversed(list(zip(pairs[::2], chosen, strict=True))):
        outcome = _choose(logic.known_true(truth_of(condition)), compute(value), outcome)
    return outcome


def _of_one_type(comparison: SqlComparison, values: Sequence[Value]) -> list[Value]:
    """The values in their common type in Spark: a date beside an instant is its midnight."""
    types = dict.fromkeys(value.type for value in values if isinstance(value, Range))
    if len(types) < 2:
        return list(values)
    one_of_each = [
        next(value for value in values if isinstance(value, Range) and value.type is type_) for type_ in types
    ]
    alike = list(values)
    for other in one_of_each:
        alike = [comparison.alike(value, other)[0] for value in alike]
    return alike


def _choose(condition: int, yes: Value, no: Value) -> Value:
    """One of two values, by a condition that is true or false."""
    if condition == logic.TRUE:
        return yes
    if condition == logic.FALSE:
        return no
    if isinstance(yes, int) or isinstance(no, int):
        return logic.either(logic.both(condition, truth_of(yes)), logic.both(logic.negate(condition), truth_of(no)))
    if isinstance(yes, Range) and isinstance(no, Range) and yes.type is no.type:
        return Range(yes.type, min(yes.low, no.low), max(yes.high, no.high))
    if yes == no:
        return yes
    return Special.UNKNOWN if logic.must_be_read(condition) else Special.IMPRECISE


def _coalesce(comparison: SqlComparison, values: Sequence[Value]) -> Value:
    *first, outcome = _of_one_type(comparison, values)
    for value in reversed(first):
        if value is Special.UNKNOWN or value is Special.IMPRECISE:
            outcome = value if outcome is not Special.IMPRECISE else outcome
        else:
            outcome = _choose(logic.negate(is_null(value)), value, outcome)
    return outcome


def _nullif(comparison: SqlComparison, values: Sequence[Value]) -> Value:
    value, other = values
    return _choose(logic.known_true(comparison.equal(value, other)), Special.NULL, value)


def _greatest(comparison: SqlComparison, values: Sequence[Value]) -> Value:
    """NULLs are ignored, as in Spark."""
    return _extreme(comparison, values, max)


def _least(comparison: SqlComparison, values: Sequence[Value]) -> Value:
    return _extreme(comparison, values, min)


def _extreme(comparison: SqlComparison, values: Sequence[Value], choose: Callable[..., Any]) -> Value:
    extreme: Value = Special.NULL
    for value in values:
        if extreme is Special.NULL or value is Special.NULL:
            extreme = value if extreme is Special.NULL else extreme
            continue
        left, right = comparison.alike(extreme, value)
        if isinstance(left, Range) and isinstance(right, Range):
            extreme = Range(left.type, choose(left.low, right.low), choose(left.high, right.high))
        else:
            extreme = Special.IMPRECISE if Special.IMPRECISE in (left, right) else Special.UNKNOWN
    return extreme


CONDITIONS: dict[str, Callable[[SqlComparison, Sequence[Value]], Value]] = {
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "greatest": _greatest,
    "least": _least,
}

"""`=`, `<`, `BETWEEN` and similar operators over boxes of slices, with Spark's conversions between types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, special_of, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.type_conversion import Conversion

_NO_VALUE = {
    Special.NULL: logic.NULL,
    Special.UNKNOWN: logic.UNKNOWN,
    Special.IMPRECISE: logic.IMPRECISE,
}
_TARGETS = {
    frozenset({Type.DATE, Type.STRING}): Type.DATE,
    frozenset({Type.TIMESTAMP, Type.STRING}): Type.TIMESTAMP,
    frozenset({Type.DATE, Type.TIMESTAMP}): Type.TIMESTAMP,
    frozenset({Type.NUMBER, Type.STRING}): Type.NUMBER,
    frozenset({Type.INTERVAL, Type.DURATION}): Type.DURATION,
}


class SqlComparison:
    """Comparisons with Spark's conversions.

    A text compared with a date is read as a date; a date compared with an instant is its midnight.
    """

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion

    def equal(self, left: Value, right: Value) -> int:
        """`=`."""
        if isinstance(left, int) or isinstance(right, int):
            return _same_truth(truth_of(left), truth_of(right))
        return self._compare(left, right, _equal)

    def less(self, left: Value, right: Value) -> int:
        """`<`."""
        return self._compare(left, right, _less)

    def at_most(self, left: Value, right: Value) -> int:
        """`<=`."""
        return logic.negate(self._compare(right, left, _less))

    def null_safe_equal(self, left: Value, right: Value) -> int:
        """`<=>`: NULL is only equal to NULL."""
        if left is Special.NULL or right is Special.NULL:
            return is_null(right if left is Special.NULL else left)
        both_null = logic.both(is_null(left), is_null(right))
        return logic.either(logic.known_true(self.equal(left, right)), both_null)

    def _compare(self, left: Value, right: Value, compare: Callable[[Range, Range], int]) -> int:
        if isinstance(left, Range) and isinstance(right, Range) and left.type is right.type:
            return compare(left, right)
        left, right = self.alike(left, right)
        special = special_of(left, right)
        if special is not None:
            return _NO_VALUE[special]
        if not isinstance(left, Range) or not isinstance(right, Range) or left.type is not right.type:
            return logic.UNKNOWN
        return compare(left, right)

    def alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Both values in the type in which Spark compares them."""
        if not isinstance(left, Range) or not isinstance(right, Range) or left.type is right.type:
            return left, right
        target = _TARGETS.get(frozenset({left.type, right.type}))
        if target is None:
            return Special.UNKNOWN, right
        return self._conversion.cast(left, target), self._conversion.cast(right, target)


def is_null(value: Value) -> int:
    """`IS NULL`."""
    if value is Special.NULL:
        return logic.TRUE
    if value is Special.UNKNOWN:
        return logic.EITHER
    if value is Special.IMPRECISE:
        return logic.TRUE_OR_FALSE
    if isinstance(value, int):
        return _null_truth(value)
    return logic.FALSE


def _null_truth(value: int) -> int:
    if value == logic.NULL:
        return logic.TRUE
    if not value & 4:
        return logic.FALSE
    return logic.EITHER if value & (4 << 3) and value & (3 << 3) else logic.TRUE_OR_FALSE


def _equal(left: Range, right: Range) -> int:
    if left.high < right.low or right.high < left.low:
        return logic.FALSE
    return logic.TRUE if left.is_point and right.is_point else logic.TRUE_OR_FALSE


def _less(left: Range, right: Range) -> int:
    if left.high < right.low:
        return logic.TRUE
    return logic.FALSE if left.low >= right.high else logic.TRUE_OR_FALSE


def _same_truth(left: int, right: int) -> int:
    """`a = b` for two conditions."""
    return logic.either(logic.both(left, right), logic.both(logic.negate(left), logic.negate(right)))

"""`=`, `<`, `BETWEEN` and their like over boxes of slices, with Spark's own conversions between types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage import truth
from tidemark.dependency_model.lineage.value import Range, Special, Type, Value, special_of, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.conversion import Conversion

_NO_VALUE = {
    Special.NULL: truth.NULL,
    Special.UNKNOWN: truth.UNKNOWN,
    Special.IMPRECISE: truth.IMPRECISE,
}
_TARGETS = {
    frozenset({Type.DATE, Type.STRING}): Type.DATE,
    frozenset({Type.TIMESTAMP, Type.STRING}): Type.TIMESTAMP,
    frozenset({Type.DATE, Type.TIMESTAMP}): Type.TIMESTAMP,
    frozenset({Type.NUMBER, Type.STRING}): Type.NUMBER,
}


class SqlComparison:
    """Comparisons that convert as Spark does.

    A text beside a date is read as a date, a date beside an instant is its midnight.
    """

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion

    def equal(self, left: Value, right: Value) -> int:
        """`=`."""
        if isinstance(left, int) or isinstance(right, int):
            return _same_truth(truth_of(left), truth_of(right))
        return self._compared(left, right, _equal)

    def less(self, left: Value, right: Value) -> int:
        """`<`."""
        return self._compared(left, right, _less)

    def at_most(self, left: Value, right: Value) -> int:
        """`<=`."""
        return truth.negated(self._compared(right, left, _less))

    def null_safe_equal(self, left: Value, right: Value) -> int:
        """`<=>`: NULL is equal to NULL, and to nothing else."""
        if left is Special.NULL or right is Special.NULL:
            return is_null(right if left is Special.NULL else left)
        both_null = truth.both(is_null(left), is_null(right))
        return truth.either(truth.known_true(self.equal(left, right)), both_null)

    def _compared(self, left: Value, right: Value, compare: Callable[[Range, Range], int]) -> int:
        if isinstance(left, Range) and isinstance(right, Range) and left.type is right.type:
            return compare(left, right)
        left, right = self.alike(left, right)
        special = special_of(left, right)
        if special is not None:
            return _NO_VALUE[special]
        if not isinstance(left, Range) or not isinstance(right, Range) or left.type is not right.type:
            return truth.UNKNOWN
        return compare(left, right)

    def alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Both in the type in which Spark compares them."""
        if not isinstance(left, Range) or not isinstance(right, Range) or left.type is right.type:
            return left, right
        target = _TARGETS.get(frozenset({left.type, right.type}))
        if target is None:
            return Special.UNKNOWN, right
        return self._conversion.cast(left, target), self._conversion.cast(right, target)


def is_null(value: Value) -> int:
    """`IS NULL`."""
    if value is Special.NULL:
        return truth.TRUE
    if value is Special.UNKNOWN:
        return truth.EITHER
    if value is Special.IMPRECISE:
        return truth.TRUE_OR_FALSE
    if isinstance(value, int):
        return _null_truth(value)
    return truth.FALSE


def _null_truth(value: int) -> int:
    if value == truth.NULL:
        return truth.TRUE
    if not value & 4:
        return truth.FALSE
    return truth.EITHER if value & (4 << 3) and value & (3 << 3) else truth.TRUE_OR_FALSE


def _equal(left: Range, right: Range) -> int:
    if left.high < right.low or right.high < left.low:
        return truth.FALSE
    return truth.TRUE if left.is_point and right.is_point else truth.TRUE_OR_FALSE


def _less(left: Range, right: Range) -> int:
    if left.high < right.low:
        return truth.TRUE
    return truth.FALSE if left.low >= right.high else truth.TRUE_OR_FALSE


def _same_truth(left: int, right: int) -> int:
    """`a = b` of two conditions."""
    return truth.either(truth.both(left, right), truth.both(truth.negated(left), truth.negated(right)))

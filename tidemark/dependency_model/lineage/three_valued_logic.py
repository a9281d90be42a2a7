"""Truth over many slices at once: the values that a predicate can have on some slices, and on each slice.

SQL has three truth values. If only the data knows a column's values, a predicate can have several of them on one slice.
Over a box of slices, it can differ from slice to slice. One number holds both: the low three bits are the values that
some slice may have (`can`), the high three the values that every slice may have (`must`). A slice is read unless its
predicate cannot be true. So a box is left out if `can` lacks true, and taken whole if `must` has true; otherwise it is
cut in two.
"""

from __future__ import annotations

from functools import cache
from typing import Final

_TRUE, _FALSE, _NULL = 1, 2, 4
_ALL: Final = 7

TRUE: Final = _TRUE | _TRUE << 3
FALSE: Final = _FALSE | _FALSE << 3
NULL: Final = _NULL | _NULL << 3
UNKNOWN: Final = _ALL | _ALL << 3
"""Any value on each slice: only the data knows."""
IMPRECISE: Final = _ALL
"""Any value somewhere in the box: a smaller box may say more."""
TRUE_OR_FALSE: Final = _TRUE | _FALSE
"""True on some slices of the box, false on others."""
EITHER: Final = (_TRUE | _FALSE) | (_TRUE | _FALSE) << 3
"""True or false on each slice, never NULL."""


def can_be_true(truth: int) -> bool:
    """Whether some slice may be read."""
    return bool(truth & _TRUE)


def must_be_read(truth: int) -> bool:
    """Whether every slice may be read."""
    return bool(truth & _TRUE << 3)


@cache
def both(left: int, right: int) -> int:
    """AND."""
    return _combine(left, right, _and)


@cache
def either(left: int, right: int) -> int:
    """OR."""
    return _combine(left, right, _or)


@cache
def negate(truth: int) -> int:
    """NOT."""
    return _normal(_swap(truth & _ALL), _swap(truth >> 3))


@cache
def known_true(truth: int) -> int:
    """`IS TRUE`: NULL becomes false."""
    can, must = truth & _ALL, truth >> 3
    return _normal(_without_null(can), _without_null(must))


@cache
def existing(truth: int) -> int:
    """EXISTS over a row's condition:

    false if the condition cannot be true, else true or false (other conditions count).
    """
    if not can_be_true(truth):
        return FALSE
    return EITHER if must_be_read(truth) else IMPRECISE


def _combine(left: int, right: int, table: dict[tuple[int, int], int]) -> int:
    can = must = 0
    for value in _values(left & _ALL):
        for other in _values(right & _ALL):
            can |= table[value, other]
    for value in _values(left >> 3):
        for other in _values(right >> 3):
            must |= table[value, other]
    return _normal(can, must)


def _normal(can: int, must: int) -> int:
    """The truth; if only one value is possible, each slice has it."""
    return can | (can if can in (_TRUE, _FALSE, _NULL) else must) << 3


def _values(mask: int) -> tuple[int, ...]:
    return tuple(value for value in (_TRUE, _FALSE, _NULL) if mask & value)


def _swap(mask: int) -> int:
    return (mask & _NULL) | (mask & _TRUE) << 1 | (mask & _FALSE) >> 1


def _without_null(mask: int) -> int:
    return (mask & ~_NULL) | (_FALSE if mask & _NULL else 0)


_VALUES = (_TRUE, _FALSE, _NULL)
_and = {
    (value, other): _FALSE if _FALSE in (value, other) else _NULL if _NULL in (value, other) else _TRUE
    for value in _VALUES
    for other in _VALUES
}
_or = {
    (value, other): _TRUE if _TRUE in (value, other) else _NULL if _NULL in (value, other) else _FALSE
    for value in _VALUES
    for other in _VALUES
}

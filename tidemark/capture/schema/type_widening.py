"""Decides which type holds every value of another, so that a column of the lake can become wider without loss.

The types are the lake's. A conversion gives what the source's own ALTER makes of the value: an INT 5 as DECIMAL(12,2)
is 5.00, a TIME 12:00:00 with three digits is 12:00:00.000, and a FLOAT 0.1 becomes the DOUBLE with the same bits and
zeros after them.
"""

import re

from tidemark.capture.schema.lake_column_types import SourceColumn

_HIGHEST = {"BOOLEAN": 1, "TINYINT": 2**7 - 1, "SMALLINT": 2**15 - 1, "INT": 2**31 - 1, "BIGINT": 2**63 - 1}
# Floating-point numbers represent all integers up to here exactly.
_EXACT_UNTIL = {"FLOAT": 2**24, "DOUBLE": 2**53}
_DECIMAL = re.compile(r"^DECIMAL\((\d+),(\d+)\)$")
_OTHERS = {("FLOAT", "DOUBLE"), ("DATE", "TIMESTAMP_NTZ")}


def conversion(old: SourceColumn, new: SourceColumn) -> str | None:
    """SQL that converts a value `{}` of `old` to `new`; None unless `new` holds every value of `old`."""
    if old.form == new.form:
        return "{}"
    if old.delta == new.delta:
        return _of_one_type(old, new)
    if (old.delta, new.delta) in _OTHERS or _holds_numbers(old.delta, new.delta):
        return f"CAST({{}} AS {new.delta})"
    return None


def _of_one_type(old: SourceColumn, new: SourceColumn) -> str | None:
    """The conversion within one lake type: times need at least as many digits, other values stay as they are."""
    if new.digits is None:
        return "{}"
    if old.digits is None or new.digits < old.digits:
        return None
    return "{}" if new.delta != "STRING" or new.digits == old.digits else _pad(old.digits, new.digits)


def _pad(old: int, new: int) -> str:
    return f"concat({{}}, '{'' if old else '.'}{'0' * (new - old)}')"


def _holds_numbers(old: str, new: str) -> bool:
    point = _DECIMAL.match(new)
    if point is None:
        return _highest(old) <= _whole_until(new)
    before, behind = _places(old)
    return before <= int(point[1]) - int(point[2]) and behind <= int(point[2])


def _highest(kind: str) -> float:
    """The highest value of a type that holds only integers; infinite for other types."""
    point = _DECIMAL.match(kind)
    if point and point[2] == "0":
        return int("9" * int(point[1]))
    return _HIGHEST.get(kind, float("inf"))


def _whole_until(kind: str) -> int:
    """The highest n for which a type holds all integers up to n; -1 for a type without integers and for BOOLEAN."""
    return -1 if kind == "BOOLEAN" else {**_HIGHEST, **_EXACT_UNTIL}.get(kind, -1)


def _places(kind: str) -> tuple[float, int]:
    """Digits before and after the point."""
    point = _DECIMAL.match(kind)
    if point:
        return int(point[1]) - int(point[2]), int(point[2])
    highest = _HIGHEST.get(kind)
    return (float("inf"), 0) if highest is None else (len(str(highest)), 0)

"""The profile of a slice in a form that merges: the profiles of a day's hours make the day's profile.

Counts, nulls, minimum and maximum are exact. Distinct values, quantiles and frequent values have the errors of their
sketches. A column that a part does not have is NULL in all its rows, as Delta reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.profile.sketches import merge_distinct, merge_frequent, merge_quantiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class ColumnKind(Enum):
    """The kind of a column: numbers and times have quantiles, texts and flags have frequent values."""

    NUMBER = "number"
    TIME = "time"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column: `values` counts the rows that are not NULL, both ends are texts, sketches are bytes.

    Quantiles of times are microseconds since 1970-01-01T00:00 (UTC). A field is None if there are no values, if the
    kind does not have it, or if the size limit was reached.
    """

    name: str
    kind: ColumnKind
    values: int
    minimum: str | None = None
    maximum: str | None = None
    distinct: bytes | None = None
    quantiles: bytes | None = None
    frequent: bytes | None = None


@dataclass(frozen=True, slots=True)
class SliceProfile:
    """The number of rows of a slice, and its columns in order."""

    rows: int
    columns: tuple[ColumnProfile, ...] = ()


def merge(parts: Sequence[SliceProfile]) -> SliceProfile:
    """The profile of all rows of the parts. Order and grouping change it only within the sketches' errors."""
    names = dict.fromkeys(column.name for part in parts for column in part.columns)
    by_part = [{column.name: column for column in part.columns} for part in parts]
    columns = tuple(_merge_columns([part[name] for part in by_part if name in part]) for name in names)
    return SliceProfile(sum(part.rows for part in parts), columns)


def _merge_columns(parts: Sequence[ColumnProfile]) -> ColumnProfile:
    kinds = {part.kind for part in parts}
    name, values = parts[0].name, sum(part.values for part in parts)
    if len(kinds) > 1:
        return ColumnProfile(name, ColumnKind.OTHER, values)
    kind, filled = parts[0].kind, [part for part in parts if part.values]
    ends = [end for part in filled for end in (part.minimum, part.maximum) if end is not None]
    return ColumnProfile(
        name,
        kind,
        values,
        min(ends, key=_order(kind), default=None),
        max(ends, key=_order(kind), default=None),
        _merged([part.distinct for part in filled], merge_distinct),
        _merged([part.quantiles for part in filled], merge_quantiles),
        _merged([part.frequent for part in filled], merge_frequent),
    )


def _merged(sketches: Sequence[bytes | None], merged: Callable[[list[bytes]], bytes]) -> bytes | None:
    """None if any part has no sketch: the result would only describe some parts."""
    known = [sketch for sketch in sketches if sketch is not None]
    return merged(known) if known and len(known) == len(sketches) else None


def _order(kind: ColumnKind) -> Callable[[str], tuple[int, Decimal | str]]:
    return _ORDERS.get(kind, lambda text: (0, text))


def _by_time(text: str) -> tuple[int, str]:
    """Years before 0 and after 9999 have a sign and not four digits."""
    year_end = text.index("-", 1)
    return int(text[:year_end]), text[year_end:]


def _by_number(text: str) -> tuple[int, Decimal | str]:
    """NaN is greater than all numbers, as in Spark."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return 1, Decimal(0)
    return (1, Decimal(0)) if number.is_nan() else (0, number)


_ORDERS: Final[Mapping[ColumnKind, Callable[[str], tuple[int, Decimal | str]]]] = {
    ColumnKind.NUMBER: _by_number,
    ColumnKind.TIME: _by_time,
}


def sizes(profile: SliceProfile) -> int:
    """The size of its sketches in bytes."""
    sketches = chain.from_iterable((column.distinct, column.quantiles, column.frequent) for column in profile.columns)
    return sum(len(sketch) for sketch in sketches if sketch)


def without_sketches_over(profile: SliceProfile, most: int) -> SliceProfile:
    """The same profile with the sketches of its first columns only, at most `most` bytes in all."""
    left, columns = most, []
    for column in profile.columns:
        left -= sizes(SliceProfile(0, (column,)))
        bare = ColumnProfile(column.name, column.kind, column.values, column.minimum, column.maximum)
        columns.append(column if left >= 0 else bare)
    return SliceProfile(profile.rows, tuple(columns))

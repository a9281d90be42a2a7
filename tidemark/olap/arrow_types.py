"""The column types that every OLAP store holds without loss, and the conversion of an Arrow table to them.

A store gets nine types and returns exactly these: bool, int16/32/64, double, decimal128(p, s), string, date32,
timestamp[us] (wall clock) and timestamp[us, UTC] (instant). Narrower and equal types are widened to them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.types as kinds

from tidemark.olap.errors import OlapTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

INSTANT: Final = pa.timestamp("us", "UTC")
WALL_CLOCK: Final = pa.timestamp("us")

_WIDENED: Final[tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...]] = (
    (kinds.is_boolean, pa.bool_()),
    (kinds.is_int8, pa.int16()),
    (kinds.is_int16, pa.int16()),
    (kinds.is_int32, pa.int32()),
    (kinds.is_int64, pa.int64()),
    (kinds.is_float32, pa.float64()),
    (kinds.is_float64, pa.float64()),
    (kinds.is_string, pa.string()),
    (kinds.is_large_string, pa.string()),
    (kinds.is_string_view, pa.string()),
    (kinds.is_date, pa.date32()),
)


def canonical_type(column: str, given: pa.DataType) -> pa.DataType:
    """The stored type for an Arrow type. Raises OlapTypeError for a type that a store could not return."""
    if kinds.is_timestamp(given):
        return WALL_CLOCK if given.tz is None else INSTANT
    if kinds.is_decimal128(given) and given.scale >= 0:
        return given
    for is_kind, stored in _WIDENED:
        if is_kind(given):
            return stored
    raise OlapTypeError(column, str(given))


def canonical(data: pa.Table) -> pa.Table:
    """`data` with stored types only, all columns nullable, without metadata.

    Raises OlapTypeError for an unsupported type, and for a value that its stored type would change (a nanosecond).
    """
    columns = []
    fields = []
    for field in data.schema:
        stored = canonical_type(field.name, field.type)
        try:
            columns.append(data.column(field.name).cast(stored, safe=True))
        except pa.ArrowInvalid as error:
            raise OlapTypeError(field.name, f"{field.type} ({error})") from error
        fields.append(pa.field(field.name, stored))
    return pa.table(columns, schema=pa.schema(fields))

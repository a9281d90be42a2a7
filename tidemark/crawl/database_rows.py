"""Rows of a database table as Arrow, with the types of its columns, so that all slices have the same types.

Types that Arrow lacks become texts; documents and arrays become JSON. A time without a zone stays without one. SQLite
has types of values and not of columns, so only its numbers keep a type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from sqlalchemy import inspect
from sqlalchemy.dialects import mysql
from sqlalchemy.types import JSON, BigInteger, Boolean, Date, DateTime, Float, Integer, LargeBinary, Numeric

from tidemark.crawl.errors import ProbeError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, CursorResult
    from sqlalchemy.types import TypeEngine

_AT_ONCE: Final = 50_000
_MOST_DIGITS: Final = 38
_DIGITS: Final = (38, 18)
"""Precision and scale of a number without declared ones, as in Spark."""
_PLAIN: Final = (
    (JSON, pa.string()),
    (Boolean, pa.bool_()),
    (Float, pa.float64()),
    (LargeBinary, pa.binary()),
)


def columns_of_table(connection: Connection, table: str) -> dict[str, pa.DataType]:
    """The types of a table's columns by name. `table` may have a schema."""
    schema, _, name = table.rpartition(".")
    dialect = connection.dialect.name
    columns = inspect(connection).get_columns(name, schema=schema or None)
    return {str(column["name"]): _arrow_type(column["type"], dialect) for column in columns}


def table_of_rows(result: CursorResult[Any], types: dict[str, pa.DataType], most: int) -> pa.Table | None:
    """All rows of a result; None if there are more than `most`. Raises ProbeError for a value of another type."""
    names = list(result.keys())
    schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
    batches: list[pa.RecordBatch] = []
    rows = 0
    while fetched := result.fetchmany(_AT_ONCE):
        rows += len(fetched)
        if rows > most:
            return None
        batches.append(_batch(fetched, schema))
    return pa.Table.from_batches(batches, schema)


def _batch(rows: Sequence[Any], schema: pa.Schema) -> pa.RecordBatch:
    arrays = []
    for at, field in enumerate(schema):
        read = _reader(field.type)
        try:
            arrays.append(pa.array([None if row[at] is None else read(row[at]) for row in rows], field.type))
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            told = f"{field.name}: {type(error).__name__}"
            raise ProbeError(
                "a value does not fit the type of its column", expected=str(field.type), found=told
            ) from None
    return pa.record_batch(arrays, schema=schema)


def _reader(kind: pa.DataType) -> Callable[[Any], Any]:
    """Converts a driver's value to Arrow's input."""
    if pa.types.is_string(kind):
        return _text
    if pa.types.is_boolean(kind):
        return bool
    return bytes if pa.types.is_binary(kind) else lambda value: value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode("utf-8", errors="replace")
    return json_text(value) if isinstance(value, (dict, list, bool)) else str(value)


def _arrow_type(declared: TypeEngine[Any], dialect: str) -> pa.DataType:
    """The Arrow type of a column. A time in SQLite is a text; a Float is also a Numeric."""
    plain = next((arrow for kind, arrow in _PLAIN if isinstance(declared, kind)), None)
    if plain is not None:
        return plain
    if isinstance(declared, Integer):
        return _whole(declared, dialect)
    if isinstance(declared, Numeric):
        return pa.float64() if dialect == "sqlite" else _decimal(declared.precision, declared.scale)
    if isinstance(declared, (Date, DateTime)) and dialect != "sqlite":
        return (
            pa.date32() if isinstance(declared, Date) else pa.timestamp("us", "UTC" if _is_instant(declared) else None)
        )
    return pa.string()


def _whole(declared: Integer, dialect: str) -> pa.DataType:
    is_unsigned = bool(getattr(declared, "unsigned", False))
    if isinstance(declared, BigInteger):
        return pa.decimal128(20, 0) if is_unsigned else pa.int64()
    return pa.int64() if is_unsigned or dialect == "sqlite" else pa.int32()


def _decimal(precision: int | None, scale: int | None) -> pa.DataType:
    digits = _DIGITS if precision is None else (precision, scale or 0)
    return pa.decimal128(*digits) if digits[0] <= _MOST_DIGITS else pa.string()


def _is_instant(declared: DateTime) -> bool:
    """PostgreSQL's `timestamptz`, and MySQL's TIMESTAMP, which the session shows in UTC."""
    return declared.timezone or isinstance(declared, mysql.TIMESTAMP)

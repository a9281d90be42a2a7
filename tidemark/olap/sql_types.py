"""The stored Arrow types and their names in each dialect, exactly as in the store's catalog."""

from __future__ import annotations

import re
from typing import Final, Literal

import pyarrow as pa
import pyarrow.types as kinds

from tidemark.olap.arrow_types import INSTANT, WALL_CLOCK
from tidemark.olap.errors import OlapTypeError

OlapDialect = Literal["duckdb", "postgresql"]

_NAMES: Final[dict[OlapDialect, dict[pa.DataType, str]]] = {
    "duckdb": {
        pa.bool_(): "BOOLEAN",
        pa.int16(): "SMALLINT",
        pa.int32(): "INTEGER",
        pa.int64(): "BIGINT",
        pa.float64(): "DOUBLE",
        pa.string(): "VARCHAR",
        pa.date32(): "DATE",
        WALL_CLOCK: "TIMESTAMP",
        INSTANT: "TIMESTAMP WITH TIME ZONE",
    },
    "postgresql": {
        pa.bool_(): "boolean",
        pa.int16(): "smallint",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.float64(): "double precision",
        pa.string(): "text",
        pa.date32(): "date",
        WALL_CLOCK: "timestamp without time zone",
        INSTANT: "timestamp with time zone",
    },
}
_DECIMAL: Final[dict[OlapDialect, str]] = {"duckdb": "DECIMAL", "postgresql": "numeric"}
_DECIMAL_TEXT: Final = re.compile(r"(?:DECIMAL|numeric)\((\d+),(\d+)\)")


def sql_type(stored: pa.DataType, dialect: OlapDialect) -> str:
    """The dialect's name of a stored type (see arrow_types)."""
    if kinds.is_decimal128(stored):
        return f"{_DECIMAL[dialect]}({stored.precision},{stored.scale})"
    return _NAMES[dialect][stored]


def arrow_type(column: str, declared: str, dialect: OlapDialect) -> pa.DataType:
    """The stored type for a catalog's type name. Raises OlapTypeError for any other type."""
    decimal = _DECIMAL_TEXT.fullmatch(declared)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    for stored, name in _NAMES[dialect].items():
        if name == declared:
            return stored
    raise OlapTypeError(column, f"{declared} in {dialect}")

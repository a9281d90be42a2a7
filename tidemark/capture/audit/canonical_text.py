"""A row as text: SQL for the source and SQL for Spark that give the same characters.

- Numbers are digits, and decimals have the lake's scale.
- Times have microseconds and are in UTC.
- Texts and bytes are their CRC-32 (of UTF-8), or hexadecimal digits in a key.
- NULL is `~`, which no other value is.
- Zero dates are what capture writes: NULL, or 1970-01-01 if the source's column is NOT NULL.
- FLOAT and DOUBLE are compared bit for bit (`floating_text`). Keys with such columns are not compared.
- MySQL's JSON is left out, because the server prints it in another form than in its binlog.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.source_types import TEXTS
from tidemark.quoting import mysql, spark

NULL: Final = "~"
_FLOATING: Final = frozenset({"FLOAT", "DOUBLE"})
_MICROSECONDS: Final = "yyyy-MM-dd HH:mm:ss.SSSSSS"
_EPOCHS: Final = {"DATE": "1970-01-01", "TIMESTAMP_NTZ": "1970-01-01 00:00:00.000000"}


@dataclass(frozen=True)
class PhysicalColumn:
    """A column of a physical table in the database; `printed` is its type, such as `int(10) unsigned zerofill`."""

    name: str
    printed: str
    is_nullable: bool


@dataclass(frozen=True)
class ColumnText:
    """SQL of a column's canonical text at the `source` and in the `lake`; `name` is the lake's name."""

    name: str
    source: str
    lake: str


def is_comparable(column: SourceColumn, physical: PhysicalColumn, *, in_key: bool = False) -> bool:
    """Whether both sides print the column alike."""
    return physical.printed.lower() != "json" and not (in_key and column.delta in _FLOATING)


def column_text(column: SourceColumn, physical: PhysicalColumn, *, in_key: bool = False) -> ColumnText:
    """The canonical text of a column that `is_comparable`."""
    source, lake = _values(column, physical, in_key=in_key)
    return ColumnText(column.name, f"COALESCE({source}, '{NULL}')", f"COALESCE({lake}, '{NULL}')")


def row_texts(columns: Collection[ColumnText]) -> tuple[str, str]:
    """SQL of the joined text of several columns, at the source and in the lake."""
    source = ", ".join(column.source for column in columns)
    lake = ", ".join(column.lake for column in columns)
    return f"CONCAT_WS(',', {source})", f"CONCAT_WS(',', {lake})"


def _values(column: SourceColumn, physical: PhysicalColumn, *, in_key: bool) -> tuple[str, str]:
    there, here = mysql.quote(physical.name), spark.quote(column.name)
    if column.source_type.word == "TIME":
        return f"CAST(CAST({there} AS TIME(6)) AS CHAR)", _clock(here)
    if column.delta in {"STRING", "BINARY"}:
        return _bytes(column, there, here, "HEX" if in_key else "CRC32")
    if column.delta in {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ"}:
        return _time(column, physical, there, here)
    if column.delta.startswith("DECIMAL"):
        return f"CAST({there} AS {column.delta})", f"CAST({here} AS STRING)"
    if column.delta in _FLOATING:
        return floating_text(there, "SIGNED"), floating_text(f"CAST({here} AS DOUBLE)", "BIGINT")
    whole = f"CAST({here} AS INT)" if column.delta == "BOOLEAN" else here
    # ZEROFILL and BIT values become plain numbers by an addition.
    return f"{there} + 0", f"CAST({whole} AS STRING)"


def _bytes(column: SourceColumn, there: str, here: str, function: str) -> tuple[str, str]:
    is_text = column.source_type.word in TEXTS
    source = f"CONVERT({there} USING utf8mb4)" if is_text else there
    return f"{function}({source})", f"CAST({function}(CAST({here} AS BINARY)) AS STRING)"


def _time(column: SourceColumn, physical: PhysicalColumn, there: str, here: str) -> tuple[str, str]:
    is_date = column.delta == "DATE"
    source = f"CAST({there} AS CHAR)" if is_date else f"CAST(CAST({there} AS DATETIME(6)) AS CHAR)"
    lake = f"CAST({here} AS STRING)" if is_date else f"date_format({here}, '{_MICROSECONDS}')"
    epoch = None if physical.is_nullable else _EPOCHS.get(column.delta)
    zero = f"'{epoch}'" if epoch else "NULL"
    source = f"IF(MONTH({there}) = 0 OR DAYOFMONTH({there}) = 0, {zero}, {source})"
    return source, f"COALESCE({lake}, {zero})" if epoch else lake


def _clock(here: str) -> str:
    """SQL of a time of day, padded to six digits after the point. The source may have written fewer."""
    with_point = f"IF(instr({here}, '.') > 0, {here}, concat({here}, '.'))"
    return f"rpad({with_point}, instr({with_point}, '.') + 6, '0')"


_BITS: Final = 52
_LOWEST, _HIGHEST = -21, 19
_BANDS: Final = sorted(range(_LOWEST, _HIGHEST + 1), key=abs)
"""Band 0 has the numbers from 1 to 2**52, band 1 the next ones to 2**104. The usual bands are tested first."""


def floating_text(number: str, integer: str) -> str:
    """SQL of the text of `number`, an SQL expression; `integer` is the dialect's 64-bit type for CAST."""
    size = f"ABS({number})"
    cases = " ".join(f"WHEN {_is_in(size, band)} THEN {_parts(size, band, integer)}" for band in _BANDS)
    return f"CONCAT(IF({number} < 0, '-', ''), CASE WHEN {size} = 0 THEN '0' {cases} END)"


def _is_in(size: str, band: int) -> str:
    bounds = []
    if band > _LOWEST:
        bounds.append(f"{size} >= {_power(band * _BITS)}")
    if band < _HIGHEST:
        bounds.append(f"{size} < {_power((band + 1) * _BITS)}")
    return " AND ".join(bounds)


def _parts(size: str, band: int, integer: str) -> str:
    # Multiply in two steps: a single power for numbers close to 0 would overflow a DOUBLE.
    half = -band * _BITS // 2
    scaled = f"{size} * {_power(half)} * {_power(half)}" if band else size
    rest = f"({scaled} - FLOOR({scaled})) * {_power(_BITS)}"
    return f"CONCAT('{band - _LOWEST}:', CAST(FLOOR({scaled}) AS {integer}), ':', CAST({rest} AS {integer}))"


def _power(exponent: int) -> str:
    """2**exponent as a literal that each dialect reads as an exact DOUBLE."""
    return f"{2.0**exponent:.17e}"

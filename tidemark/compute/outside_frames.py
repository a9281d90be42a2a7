"""The rows of external files as Spark frames, with the columns and values that probes and rules see.

Spark reads each file by the file's columns and casts them to the columns of all files; nothing is inferred from texts.
Arrow reads types that Spark cannot read exactly (times in nanoseconds, ORC's local times).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.orc_files import leaves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.crawl.folders import Folder
    from tidemark.crawl.outside_rows import OutsideRows

MOST_ROWS: Final = 5_000_000
"""The most rows that this process reads itself."""
_DIGITS: Final = 38
_NO_TEXT: Final = "\ufdd0no text\ufdd0"
"""Code points that no text has. Spark reads this and unquoted empty values as NULL; by its default it would read
`""` as NULL, too.
"""
_NO_COLUMN: Final = {"mode": "FAILFAST", "columnNameOfCorruptRecord": _NO_TEXT}
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "csv": {
        "header": "true",
        "multiLine": "true",
        **_NO_COLUMN,
        "unescapedQuoteHandling": "RAISE_ERROR",
        "escape": '"',
        "nullValue": _NO_TEXT,
        "maxColumns": "100000",
    },
    "json": _NO_COLUMN,
}


def frame_of(session: SparkSession, rows: OutsideRows, folder: Folder) -> DataFrame:
    """The rows of all files. Raises ProbeError for unreadable files, or too many rows for Arrow."""
    _require_types_of_spark(rows.schema)
    whole = from_arrow_schema(rows.schema)
    if not all(_is_read_by_spark(columns, rows.form) for columns in rows.alike):
        return of_arrow(session, _by_arrow(rows))
    frames = [_of_alike(session, rows.form, columns, paths, folder) for columns, paths in rows.alike.items()]
    return functools.reduce(_union, frames, session.createDataFrame([], whole)).to(whole)


def _require_types_of_spark(columns: pa.Schema) -> None:
    odd = [f"{field.name} {field.type}" for field in columns if any(map(_is_unknown, leaves(field.type)))]
    if odd:
        raise ProbeError(
            "the files have types that Spark does not read",
            expected="numbers, DECIMALs of up to 38 digits, texts, BINARY, BOOLEAN, dates and times with a date",
            found=", ".join(odd),
            hint="write these columns with another type, such as a text",
        )


def _is_unknown(leaf: pa.DataType) -> bool:
    if pa.types.is_decimal(leaf):
        return int(leaf.precision) > _DIGITS
    return any(is_kind(leaf) for is_kind in (pa.types.is_time, pa.types.is_float16, pa.types.is_interval))


def of_arrow(session: SparkSession, table: pa.Table) -> DataFrame:
    """Rows of Arrow. A time without a zone stays without one: by itself Spark puts it on the session's clock."""
    return session.createDataFrame(table, from_arrow_schema(table.schema))


def _of_alike(session: SparkSession, form: str, columns: pa.Schema, paths: Sequence[str], folder: Folder) -> DataFrame:
    known = pa.schema([field for field in columns if not pa.types.is_null(field.type)])
    reader = session.read.format(form).schema(from_arrow_schema(known)).options(**_OPTIONS.get(form, {}))
    return reader.load([folder.spark_address(path) for path in paths])


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right, allowMissingColumns=True)


def _by_arrow(rows: OutsideRows) -> pa.Table:
    if (count := rows.count()) > MOST_ROWS:
        raise ProbeError(
            "too many rows in files of a type that Spark does not read",
            expected=f"at most {MOST_ROWS:,}",
            found=f"{count:,}",
            hint="have them written with times in microseconds, as Parquet",
        )
    return rows.table()


def _is_read_by_spark(columns: pa.Schema, form: str) -> bool:
    return all(_is_plain(field.type, form) for field in columns)


def _is_plain(kind: pa.DataType, form: str) -> bool:
    if pa.types.is_nested(kind):
        return all(_is_plain(kind.field(number).type, form) for number in range(kind.num_fields))
    return not pa.types.is_timestamp(kind) or (form == "parquet" and kind.unit != "ns")

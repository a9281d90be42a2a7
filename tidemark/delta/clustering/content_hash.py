"""A table's content as a few numbers, independent of the order of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from tidemark.quoting.spark import quote

# The sum of 2^28 times the rows of the largest table fits 64 bits, as Spark's ANSI mode refuses an overflow.
_SUM_BITS = 0xFFFFFFF


@dataclass(frozen=True)
class ContentHash:
    """The number of rows, and the XOR and a sum of their 64-bit hashes: equal for equal rows in any order."""

    rows: int
    mixed: int
    total: int

    @classmethod
    def of(cls, row: Row | Mapping[str, Any]) -> "ContentHash":
        return cls(int(row["rows"]), int(row["mixed"] or 0), int(row["total"] or 0))


def content_columns(schema: StructType) -> list[Column]:
    """The aggregates over rows of that schema for a `ContentHash`."""
    hashed = sf.xxhash64(*(_hashable(field.name, field.dataType) for field in schema))
    return [
        sf.count(sf.lit(1)).alias("rows"),
        sf.bit_xor(hashed).alias("mixed"),
        sf.sum(hashed.bitwiseAND(_SUM_BITS)).alias("total"),
    ]


def content_of(rows: DataFrame, names: Sequence[str]) -> ContentHash:
    """The hash of these columns, in one Spark job."""
    chosen = rows.select(*map(quote, names))
    totals = chosen.agg(*content_columns(chosen.schema)).first()
    if totals is None:
        raise AssertionError("an aggregate without groups has one row")
    return ContentHash.of(totals)


def _hashable(name: str, kind: DataType) -> Column:
    """A hashable column. Spark cannot hash maps and variants, so they become JSON, which keeps the stored order."""
    column = sf.col(quote(name))
    return sf.to_json(sf.struct(column)) if _has_unhashable(kind) else column


def _has_unhashable(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return any(_has_unhashable(field.dataType) for field in kind)
    if isinstance(kind, ArrayType):
        return _has_unhashable(kind.elementType)
    return isinstance(kind, MapType | VariantType)

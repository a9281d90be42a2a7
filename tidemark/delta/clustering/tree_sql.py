"""A tree of splits as Spark SQL: nested comparisons as in a binary search, compiled to a few jumps for each row."""

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

from pyspark.sql.types import DataType, DoubleType, FloatType, TimestampNTZType

from tidemark.delta.clustering.column_ranks import ColumnRanks
from tidemark.delta.clustering.split_tree import Leaf, Node, Split
from tidemark.quoting.spark import quote, text_literal

# Any numbers: the rows of a task go to the files of a leaf in turn.
_SCATTER = "monotonically_increasing_id()"


def file_of_row(node: Node, keys: Sequence[ColumnRanks], types: Sequence[DataType]) -> str:
    """An INT expression over the keys' columns: the number of a row's file."""
    if isinstance(node, Leaf):
        return str(node.first) if node.width == 1 else f"{node.first} + CAST({_SCATTER} % {node.width} AS INT)"
    return _binary_search(node, keys, types, 0, len(node.children))


def _binary_search(node: Split, keys: Sequence[ColumnRanks], types: Sequence[DataType], first: int, end: int) -> str:
    """The children `first` to `end - 1`, halved until one is left."""
    if end - first == 1:
        return file_of_row(node.children[first], keys, types)
    middle = (first + end) // 2
    condition = _from(node.bounds[middle - 1], keys[node.column], types[node.column])
    right, left = _binary_search(node, keys, types, middle, end), _binary_search(node, keys, types, first, middle)
    return f"IF({condition}, {right}, {left})"


def _from(bound: int, key: ColumnRanks, kind: DataType) -> str:
    """The condition that a row's position is at least `bound`. NULL is below every value, and IF takes it as false."""
    value = key.value_of(bound)
    if value is None:
        return f"{quote(key.name)} IS NOT NULL"
    return f"{quote(key.name)} {'>' if bound % 2 else '>='} {literal(value.as_py(), kind)}"


def literal(value: object, kind: DataType) -> str:
    """A value in the column's own type, so that the column is not cast."""
    if isinstance(value, str):
        return text_literal(value)
    if isinstance(value, dt.datetime):
        utc = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        return f"TIMESTAMP_NTZ'{utc}'" if isinstance(kind, TimestampNTZType) else f"TIMESTAMP'{utc}Z'"
    if isinstance(value, dt.date):
        return f"DATE'{value.isoformat()}'"
    return f"CAST('{_number(value, kind)}' AS {kind.simpleString()})"


def _number(value: object, kind: DataType) -> str:
    if isinstance(kind, FloatType | DoubleType) and isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)

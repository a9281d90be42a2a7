"""The pass over a batch of groups: sends each row to its file, writes the files, and verifies the content."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, DoubleType, FloatType, StringType, StructField, TimestampNTZType

from tidemark.delta.clustering.clusterable_columns import ClusterColumn, physical_name
from tidemark.delta.clustering.column_ranks import ColumnRanks, rank_column
from tidemark.delta.clustering.content_hash import ContentHash, content_columns, content_of
from tidemark.delta.clustering.errors import ContentChangedError
from tidemark.delta.clustering.file_groups import FileGroup
from tidemark.delta.clustering.key_sample import MOST_ROWS, sample_keys, sample_size
from tidemark.delta.clustering.split_tree import Leaf, Node, Split, file_count
from tidemark.delta.clustering.tree_builder import build_tree
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.quoting.spark import quote, text_literal, typed_literal
from tidemark.spark.temporary_settings import settings
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation

_PREFIX = "spark.databricks.io.skipping.stringPrefixLength"
_DEFAULT_PREFIX, _LONGEST_PREFIX = 32, 1_024


@dataclass(frozen=True)
class ClusterPlan:
    """The trees of a batch with consecutive file numbers: `expression` gives a row's file, `files` is their number."""

    expression: str
    files: int
    keys: tuple[ColumnRanks, ...]


@dataclass(frozen=True)
class Rewritten:
    """The new files as the log describes them, and their content, which equals the old files' content."""

    added: tuple[Mapping[str, Any], ...]
    content: ContentHash


def plan_rewrite(
    txn: OptimisticTransaction, root: TableLocation, batch: Sequence[FileGroup], columns: Sequence[ClusterColumn]
) -> ClusterPlan:
    """Sample, trees and expression of a batch."""
    kinds, first = [column.kind for column in columns], 0
    keys: tuple[ColumnRanks, ...] = ()
    types = {physical_name(field): field for field in txn.schema}
    conditions, expressions = [], []
    share = min(1.0, MOST_ROWS / sum(sample_size(group.wanted) for group in batch))
    for group in batch:
        tree, own_keys = _tree(txn, root, group, columns, share)
        keys += own_keys
        expressions.append(file_of_row(_shift_files(tree, first), own_keys, kinds))
        conditions.append(_is_in(group.partition, types))
        first += file_count(tree)
    expression = expressions[-1]
    for condition, own in zip(conditions[-2::-1], expressions[-2::-1], strict=True):
        expression = f"IF({condition}, {own}, {expression})"
    return ClusterPlan(expression, first, keys)


def _tree(
    txn: OptimisticTransaction, root: TableLocation, group: FileGroup, columns: Sequence[ClusterColumn], share: float
) -> tuple[Node, tuple[ColumnRanks, ...]]:
    if group.wanted == 1:
        return Leaf(0, 1), ()
    sample = sample_keys(txn, root, group, columns, int(share * sample_size(group.wanted)))
    ranked = [rank_column(column.name, sample[column.name]) for column in columns]
    tree = build_tree([positions for _, positions in ranked], [column.weight for column in columns], group.wanted)
    return tree, tuple(key for key, _ in ranked)


def _shift_files(node: Node, by: int) -> Node:
    if isinstance(node, Leaf):
        return Leaf(node.first + by, node.width)
    return Split(node.column, node.bounds, tuple(_shift_files(child, by) for child in node.children))


def _is_in(partition: Mapping[str, str | None], fields: Mapping[str, StructField]) -> str:
    """The condition for a partition. The log has the partition columns' names in files."""
    equal = (
        f"{quote(fields[name].name)} <=> {typed_literal(value or None, fields[name].dataType.simpleString())}"
        for name, value in partition.items()
    )
    return " AND ".join(equal) or "true"


def rewrite_groups(
    txn: OptimisticTransaction,
    spark: SparkSession,
    root: TableLocation,
    batch: Sequence[FileGroup],
    columns: Sequence[ClusterColumn],
) -> Rewritten:
    """Write the batch's rows again, without a commit. Raises ContentChangedError."""
    plan = plan_rewrite(txn, root, batch, columns)
    crash_point("cluster.planned")
    seen = Observation()
    names = list(txn.columns)
    rows = txn.read([file.handle for group in batch for file in group.files]).select(*map(quote, names))
    rows = rows.observe(seen, *content_columns(rows.schema))
    with settings(spark, {_PREFIX: str(_length_of_bounds(plan.keys, columns))}):
        added = txn.rewrite(rows.repartitionById(plan.files, sf.expr(plan.expression)))
    crash_point("cluster.written")
    before = ContentHash.of(seen.get)
    after = content_of(txn.read(added), names)
    if before != after:
        raise ContentChangedError.of(root, before, after)
    return Rewritten(tuple(txn.describe(added)), after)


def _length_of_bounds(keys: Sequence[ColumnRanks], columns: Sequence[ClusterColumn]) -> int:
    """The length of text bounds: by default 32 characters, and more if all texts have a common prefix."""
    texts = {column.name for column in columns if isinstance(column.kind, StringType)}
    ends = [(key.values[0].as_py(), key.values[-1].as_py()) for key in keys if key.name in texts and len(key.values)]
    common = max((_common(*pair) for pair in ends), default=0)
    return min(_DEFAULT_PREFIX + common, _LONGEST_PREFIX)


def _common(left: str, other: str) -> int:
    """The length of the common prefix of two texts."""
    pairs = enumerate(zip(left, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(other)))


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

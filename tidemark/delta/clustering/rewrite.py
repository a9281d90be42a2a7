"""The one pass: each row of a batch of groups is sent to its file, written, and found again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField

from tidemark.delta.clustering.column_ranks import Key, key_of
from tidemark.delta.clustering.content_hash import Content, content_columns, content_of
from tidemark.delta.clustering.errors import ContentChangedError
from tidemark.delta.clustering.groups import Group
from tidemark.delta.clustering.key_sample import MOST_ROWS, sample_size, sampled
from tidemark.delta.clustering.table_columns import ClusterColumn, physical_name
from tidemark.delta.clustering.tree import Leaf, Node, Split, file_count
from tidemark.delta.clustering.tree_builder import grown
from tidemark.delta.clustering.tree_sql import file_of_row
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.quoting.spark import quoted, typed_literal
from tidemark.spark.settings import settings
from tidemark.system.crash import crash_point

_PREFIX = "spark.databricks.io.skipping.stringPrefixLength"
_DEFAULT_PREFIX, _LONGEST_PREFIX = 32, 1_024


@dataclass(frozen=True)
class Plan:
    """A batch's trees, numbered through: `expression` says a row's file, `files` how many there are."""

    expression: str
    files: int
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Rewritten:
    """What a batch became: new files as the log writes them, and their content, proved to be that of the old ones."""

    added: tuple[Mapping[str, Any], ...]
    content: Content


def planned(txn: OptimisticTransaction, root: Path, batch: Sequence[Group], columns: Sequence[ClusterColumn]) -> Plan:
    """Sample, trees and expression of a batch."""
    kinds, first = [one.kind for one in columns], 0
    keys: tuple[Key, ...] = ()
    types = {physical_name(field): field for field in txn.schema}
    conditions, expressions = [], []
    share = min(1.0, MOST_ROWS / sum(sample_size(group.wanted) for group in batch))
    for group in batch:
        tree, found = _tree(txn, root, group, columns, share)
        keys += found
        expressions.append(file_of_row(_shifted(tree, first), found, kinds))
        conditions.append(_is_in(group.partition, types))
        first += file_count(tree)
    expression = expressions[-1]
    for condition, own in zip(conditions[-2::-1], expressions[-2::-1], strict=True):
        expression = f"IF({condition}, {own}, {expression})"
    return Plan(expression, first, keys)


def _tree(
    txn: OptimisticTransaction, root: Path, group: Group, columns: Sequence[ClusterColumn], share: float
) -> tuple[Node, tuple[Key, ...]]:
    if group.wanted == 1:
        return Leaf(0, 1), ()
    sample = sampled(txn, root, group, columns, int(share * sample_size(group.wanted)))
    found = [key_of(one.name, sample[one.name]) for one in columns]
    tree = grown([positions for _, positions in found], [one.weight for one in columns], group.wanted)
    return tree, tuple(key for key, _ in found)


def _shifted(node: Node, by: int) -> Node:
    if isinstance(node, Leaf):
        return Leaf(node.first + by, node.width)
    return Split(node.column, node.bounds, tuple(_shifted(child, by) for child in node.children))


def _is_in(partition: Mapping[str, str | None], fields: Mapping[str, StructField]) -> str:
    """The log names partition columns as the files do."""
    equal = (
        f"{quoted(fields[name].name)} <=> {typed_literal(value or None, fields[name].dataType.simpleString())}"
        for name, value in partition.items()
    )
    return " AND ".join(equal) or "true"


def rewritten(
    txn: OptimisticTransaction,
    spark: SparkSession,
    root: Path,
    batch: Sequence[Group],
    columns: Sequence[ClusterColumn],
) -> Rewritten:
    """Write the batch's rows anew; nothing is committed. Raises ContentChangedError."""
    plan = planned(txn, root, batch, columns)
    crash_point("cluster.planned")
    seen = Observation()
    names = list(txn.columns)
    rows = txn.read([file.handle for group in batch for file in group.files]).select(*map(quoted, names))
    rows = rows.observe(seen, *content_columns(rows.schema))
    with settings(spark, {_PREFIX: str(_length_of_bounds(plan.keys, columns))}):
        added = txn.rewrite(rows.repartitionById(plan.files, sf.expr(plan.expression)))
    crash_point("cluster.written")
    before = Content.of(seen.get)
    after = content_of(txn.read(added), names)
    if before != after:
        raise ContentChangedError.of(root, before, after)
    return Rewritten(tuple(txn.described(added)), after)


def _length_of_bounds(keys: Sequence[Key], columns: Sequence[ClusterColumn]) -> int:
    """The log keeps the first 32 characters of a text's bounds: more where all texts begin with the same ones."""
    texts = {one.name for one in columns if isinstance(one.kind, StringType)}
    ends = [(key.values[0].as_py(), key.values[-1].as_py()) for key in keys if key.name in texts and len(key.values)]
    common = max((_common(*pair) for pair in ends), default=0)
    return min(_DEFAULT_PREFIX + common, _LONGEST_PREFIX)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))

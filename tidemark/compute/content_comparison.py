"""Whether a rebuilt slice has other rows than before: content is compared, not time (policy `if_changed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.partition_predicate import partition_predicate
from tidemark.delta.schema_evolution import is_same
from tidemark.dependency_model.entity import Reprocess
from tidemark.quoting.spark import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.system.table_location import TableLocation

_BY_CONTENT = (Reprocess.IF_CHANGED, Reprocess.ASK)
_COUNT = "__tidemark_count"


def content_matters(graph: DependencyGraph, entity: str) -> bool:
    """Whether a downstream entity only needs a rebuild if the content of this entity's slices changed."""
    readers = {edge.down.name for edge in graph.downstream_edges(entity)}
    return any(graph.entity(name).reprocess in _BY_CONTENT for name in readers)


def is_same_content(
    session: SparkSession, path: TableLocation, partition: Partition, before: str | None, now: int
) -> bool:
    """Whether a partition has the same rows, equally often, in two versions of its table.

    False if the earlier version is not known, its files are gone, or the columns differ.
    """
    if before is None or not before.isdigit():
        return False
    if int(before) == now:
        return True
    try:
        old, new = (
            read_table(session, path, version).where(partition_predicate(partition)) for version in (int(before), now)
        )
        return is_same(old.schema, new.schema) and _differences(old, new).isEmpty()
    except (PySparkException, Py4JError):  # files that VACUUM deleted, columns that cannot be grouped by
        return False


def _differences(old: DataFrame, new: DataFrame) -> DataFrame:
    """Rows that one frame has more often than the other, with one pass over both."""
    counted = old.withColumn(_COUNT, sf.lit(-1)).unionAll(new.withColumn(_COUNT, sf.lit(1)))
    sums = counted.groupBy(*map(quote, old.columns)).agg(sf.sum(_COUNT).alias(_COUNT))
    return sums.where(sf.col(_COUNT) != 0)

"""A batch of changes: its keys and their partitions, with one change for each key."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from tidemark.delta.errors import KeyNotUniqueError
from tidemark.delta.merge_target import MergeTarget

_PARTITION = "_partition"


@dataclass(frozen=True)
class ChangeBatch:
    """`changes` have at most one change of each key; `keys` have a row for each: key, `_op` and `_partition` (text)."""

    changes: DataFrame
    keys: pa.Table

    @property
    def destinations(self) -> frozenset[str | None]:
        """The partitions (text) of inserted or updated rows."""
        kept = self.keys.filter(pc.not_equal(self.keys["_op"], "d"))
        return frozenset(value or None for value in kept[_PARTITION].unique().to_pylist())


def read_batch(changes: DataFrame, target: MergeTarget) -> ChangeBatch:
    """Collect the keys in one Spark job. If a key has several changes, the newest is kept.

    The driver holds the keys of a batch in memory, about 50 bytes for each change. Raises KeyNotUniqueError for NULL.
    """
    partition = sf.col(target.partition_column).cast("string") if target.partition_column else sf.lit(None)
    keys = changes.select(*target.key, "_op", partition.cast("string").alias(_PARTITION)).toArrow()
    for name in target.key:
        if keys[name].null_count:
            raise KeyNotUniqueError.missing(target.path, name)
    if keys.group_by(list(target.key)).aggregate([]).num_rows == keys.num_rows:
        return ChangeBatch(changes, keys)
    return read_batch(newest_changes(changes, target), target)


def newest_changes(changes: DataFrame, target: MergeTarget) -> DataFrame:
    """The change with the highest `newer` of each key."""
    order = Window.partitionBy(*target.key).orderBy(sf.col(target.newer).desc())
    return changes.withColumn("_rank", sf.row_number().over(order)).where("_rank = 1").drop("_rank")

"""A batch of changes as the driver sees it: its keys, where they go, and that there is one change a key."""

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
    """`changes` hold at most one change a key; `keys`, a row a change, key, `_op` and `_partition` (text)."""

    changes: DataFrame
    keys: pa.Table

    @property
    def destinations(self) -> frozenset[str | None]:
        """The partitions (text) of the rows that are inserted or updated."""
        kept = self.keys.filter(pc.not_equal(self.keys["_op"], "d"))
        return frozenset(value or None for value in kept[_PARTITION].unique().to_pylist())


def read_batch(changes: DataFrame, target: MergeTarget) -> ChangeBatch:
    """Look at the keys, one Spark job; of several changes of one key the newest is taken.

    The keys of a batch are held in the driver's memory: 50 bytes a change or so. Raises KeyNotUniqueError for NULL.
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

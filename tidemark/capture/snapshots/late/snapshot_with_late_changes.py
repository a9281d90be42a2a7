"""A restated snapshot: the rows of its version, with the late changes that belong to it.

It holds every change that is dated before the slice's end, in the order of the binlogs: changes before the cut are in
the version, and later ones are late changes dated before the end. A late change sets the whole row to its after-image,
whatever happened to the row in between.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf


def with_late_changes(version: DataFrame, late: DataFrame, key: Sequence[str], end_ms: int, batch: int) -> DataFrame:
    """The version that is tagged for a slice, with the slice's late changes of commits up to `batch`.

    `late` are the stored late changes (`late_change_table`), `key` is their key (`_shard` and the source's key),
    `end_ms` is the slice's end (epoch ms). The columns are those of the version, without columns that were added later.
    A column that became wider since has the wider type.
    """
    newest = _newest(late, key, end_ms, batch)
    kinds = {
        **{field.name: field.dataType for field in version.schema},
        **{field.name: field.dataType for field in late.schema},
    }
    rest = version.join(sf.broadcast(newest.select(*key)), list(key), "left_anti").select(
        *(sf.col(name).cast(kinds[name]).alias(name) for name in version.columns)
    )
    there = [name for name in version.columns if name in late.columns]
    return rest.unionByName(newest.where("_op <> 'd'").select(*there), allowMissingColumns=True)


def _newest(late: DataFrame, key: Sequence[str], end_ms: int, batch: int) -> DataFrame:
    """The last change of each key that belongs to the slice."""
    # Changes before the cut are in the version already. To apply them again would undo later changes of the row.
    mine = (sf.col("_batch") <= batch) & (sf.col("_event_ms") < end_ms) & (sf.col("_tagged_ms") >= end_ms)
    order = Window.partitionBy(*key).orderBy(sf.col("_offset").desc(), sf.col("_row").desc())
    return late.where(mine).withColumn("_rank", sf.row_number().over(order)).where("_rank = 1").drop("_rank")

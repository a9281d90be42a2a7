"""A restated snapshot: the rows of its version, and on top of them the late changes that belong to it.

So it is made of every change that is dated before the slice's end, in the order of the binlogs: of those before the cut
the version holds, and of the later ones those that are dated before the end. A change leaves the row as it was when it
was made, whatever happened to it in between: its after-image is the whole row.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf


def with_late_changes(version: DataFrame, late: DataFrame, key: Sequence[str], end_ms: int, batch: int) -> DataFrame:
    """The version that is tagged as slice T, with the late changes of commits up to `batch` that belong to T.

    `late` are those that the table keeps (`late_change_table`), `key` is its own (`_shard` and the source's), `end_ms`
    is T's end (epoch ms). Columns are those of the version: one that came later was not there at that time. Where one
    became wider since, it has the wider type.
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
    """Of each key the last change that the slice gets."""
    # What was there before the cut is in the version already: changes to the row since then would be undone.
    mine = (sf.col("_batch") <= batch) & (sf.col("_event_ms") < end_ms) & (sf.col("_tagged_ms") >= end_ms)
    order = Window.partitionBy(*key).orderBy(sf.col("_offset").desc(), sf.col("_row").desc())
    return late.where(mine).withColumn("_rank", sf.row_number().over(order)).where("_rank = 1").drop("_rank")

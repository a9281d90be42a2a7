"""Rows computed once and cut off from how they were: Spark's local checkpoint, which dies with whoever holds it."""

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def held(frame: DataFrame) -> DataFrame:
    """The frame, computed. On a cluster two executors have each row: what one alone had nobody could compute again."""
    master = str(frame.sparkSession.sparkContext.master)
    is_here = master == "local" or master.startswith("local[")
    return frame.localCheckpoint(storageLevel=None if is_here else StorageLevel.MEMORY_AND_DISK_2)

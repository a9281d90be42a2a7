"""Rows that are computed once and detached from their query by Spark's local checkpoint. They die with their holder."""

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def held(frame: DataFrame) -> DataFrame:
    """The frame, computed. On a cluster two executors have each row, because a lost row could not be computed again."""
    master = str(frame.sparkSession.sparkContext.master)
    is_here = master == "local" or master.startswith("local[")
    return frame.localCheckpoint(storageLevel=None if is_here else StorageLevel.MEMORY_AND_DISK_2)

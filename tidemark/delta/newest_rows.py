"""The rows of a table's newest version, by the cheapest way that there is to them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from tidemark.delta.delta_rs_table import Partition, read_table
from tidemark.delta.internals.listed_rows import listed_rows
from tidemark.system.table_location import TableLocation


def newest_rows(spark: SparkSession, path: TableLocation, partitions: Sequence[Partition] | None = None) -> DataFrame:
    """At least the rows of these partitions, all where None: who wants no others has a condition for it.

    Of few files a frame of the version that is the newest now, else Spark's own, which looks again when it is run.
    """
    few = listed_rows(spark, path, partitions)
    return read_table(spark, path) if few is None else few

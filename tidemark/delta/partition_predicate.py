"""A partition in Spark SQL: as a condition, as columns of a frame, and as the last columns of rows."""

from collections.abc import Iterable
from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.delta.delta_rs_table import Partition
from tidemark.dependency_model.time.partition_columns import PartitionValue
from tidemark.quoting.spark import quote, sql_literal


def partition_predicate(partition: Partition) -> str:
    """The condition `dt = DATE'2026-03-23' AND hour = '07'`, quoted for Spark SQL; `TRUE` for the whole table."""
    if not partition:
        return "TRUE"
    return " AND ".join(f"{quote(name)} = {sql_literal(value)}" for name, value in partition.items())


def any_partition_predicate(partitions: Iterable[Partition]) -> str:
    """The condition for rows of any of these partitions."""
    return " OR ".join(f"({partition_predicate(partition)})" for partition in partitions)


def literal(value: PartitionValue) -> Column:
    """A value of a partition column with its type."""
    return sf.lit(value).cast(type_of(value))


def type_of(value: PartitionValue) -> str:
    """The type of a partition column with this value."""
    if isinstance(value, int):
        return "int"
    return "date" if isinstance(value, date) else "string"


def partitions_last(rows: DataFrame, partition: Partition) -> DataFrame:
    """The rows with the partition's columns at the end."""
    return rows.select(*(quote(name) for name in rows.columns if name not in partition), *map(quote, partition))

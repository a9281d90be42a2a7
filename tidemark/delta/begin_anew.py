"""Empties a table in one commit, exactly once. Every older version stays."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import quote
from tidemark.system.table_location import TableLocation


def begin_anew(spark: SparkSession, path: TableLocation, columns: Mapping[str, str], transaction: Transaction) -> int:
    """Delete all rows and set exactly these columns (name -> type), partitioned as before. Returns the version.

    The session must be the thread's own. Raises ForeignCommitError, and CommitConflictError after many attempts.
    """
    partitioned = file_statistics(path).partition_columns
    schema = ", ".join(f"{quote(name)} {kind}" for name, kind in columns.items())

    def attempt() -> int:
        version, applied = applied_transaction(path, transaction.app)
        if is_replay(path, transaction, applied):
            return version
        writer = spark.createDataFrame([], schema).write.format("delta").mode("overwrite")
        writer = writer.option("overwriteSchema", "true").partitionBy(*partitioned)
        return commit_with(spark, transaction, lambda: writer.save(str(path)))

    return with_retries(path, attempt, BackOff())[0]

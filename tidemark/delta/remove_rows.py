"""Rows taken out of the newest version in one commit, once; every older version stays as it is."""

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import path_table, quote


def remove_rows(spark: SparkSession, path: Path, condition: str, transaction: Transaction) -> int:
    """Delete the rows where `condition` (SQL) holds; the version made, also where there are none.

    The session is this thread's own. Raises ForeignCommitError, CommitConflictError after many attempts.
    """

    def attempt() -> int:
        version, applied = applied_transaction(path, transaction.app)
        if is_replay(path, transaction, applied):
            return version
        delete = f"DELETE FROM {path_table(path)} WHERE {condition}"  # noqa: S608 - quoted by the caller
        commit_with(spark, transaction, lambda: spark.sql(delete))
        version, applied = applied_transaction(path, transaction.app)
        # Where no row is deleted Delta commits nothing.
        return version if applied == transaction.number else commit_nothing(spark, path, transaction)

    return with_retries(path, attempt, BackOff())[0]


def begin_anew(spark: SparkSession, path: Path, columns: Mapping[str, str], transaction: Transaction) -> int:
    """Leave no row and exactly these columns (name -> type), partitioned as before; the version made.

    The session is this thread's own. Raises ForeignCommitError, CommitConflictError after many attempts.
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

"""Deletes or updates rows that match a condition, in one commit that is made once, even if no row matches."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.commit_info import Transaction, write_with
from tidemark.delta.delta_rs_table import applied_transaction
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import path_table, quote
from tidemark.system.table_location import TableLocation


def delete_rows(
    spark: SparkSession, path: TableLocation, condition: str, transaction: Transaction, back_off: BackOff | None = None
) -> int:
    """Delete rows that match the SQL `condition`; returns the version. The session must be the thread's own."""
    return _once(spark, path, f"DELETE FROM {path_table(path)} WHERE {condition}", transaction, back_off)  # noqa: S608


def set_columns(
    spark: SparkSession,
    path: TableLocation,
    values: Mapping[str, str],
    condition: str,
    transaction: Transaction,
    back_off: BackOff | None = None,
) -> int:
    """Set columns to SQL expressions in rows that match `condition`; returns the version. See `delete_rows`."""
    listed = ", ".join(f"{quote(name)} = {value}" for name, value in values.items())
    return _once(spark, path, f"UPDATE {path_table(path)} SET {listed} WHERE {condition}", transaction, back_off)  # noqa: S608


def _once(
    spark: SparkSession, path: TableLocation, statement: str, transaction: Transaction, back_off: BackOff | None
) -> int:
    def attempt() -> int:
        version, applied = applied_transaction(path, transaction.app)
        if is_replay(path, transaction, applied):
            return version
        write_with(spark, transaction, lambda: spark.sql(statement))
        version, applied = applied_transaction(path, transaction.app)
        # Delta commits nothing if no row matches.
        return version if is_replay(path, transaction, applied) else commit_nothing(spark, path, transaction)

    return with_retries(path, attempt, back_off or BackOff())[0]

"""Replaces a table's rows, columns and partition columns by those of another table, in one commit.

A folder cannot be renamed at once in an object store, so the new table is a version of the old one. Readers see the old
table or the new one, and older versions stay until VACUUM.
"""

from collections.abc import Sequence

from pyspark.sql import SparkSession

from tidemark.delta.commit_conflict import RETRYABLE, require_same_definition
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.errors import TableChangedError
from tidemark.delta.internals.overwrite_transaction import OverwriteTransaction
from tidemark.delta.live_file import write_counts
from tidemark.delta.table_features import allow_types, sql_kinds
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation


def swap_table(spark: SparkSession, staged: TableLocation, path: TableLocation, columns: Sequence[str], at: int) -> int:
    """Make the newest version of `staged` the table at `path`, partitioned by `columns`. Returns the new version.

    `spark` must be the thread's own session. Raises TableChangedError if the table has another version than `at`; then
    nothing changed.
    """
    rows = read_table(spark, staged, current_version(staged))
    if (newest := current_version(path)) != at:
        raise TableChangedError.of(path, at, newest)
    at += allow_types(spark, path, sql_kinds(rows.schema))
    txn = OverwriteTransaction(spark, path)
    if txn.version != at:
        raise TableChangedError.of(path, at, txn.version)
    written = txn.write_as_new_table(rows, columns)
    crash_point("swap.files_written")
    try:
        with require_same_definition(path):
            version = txn.commit_overwrite(written, None, write_counts(written.added))
    except RETRYABLE as error:
        raise TableChangedError.of(path, at, None) from error
    crash_point("swap.committed")
    return version

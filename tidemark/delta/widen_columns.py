"""Widens the types of a table's columns: all files are written again, in one commit.

Delta's type widening would leave the files, and readers would convert them. But readers need to support that feature of
the protocol. Readers that take files from a manifest cannot, and files would differ in type. Here every live file has
the table's types, and each older version keeps its own.
"""

from collections.abc import Mapping

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructField

from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction, read_table
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.table_features import allow_types
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import quote
from tidemark.system.table_location import TableLocation


def widen_columns(
    spark: SparkSession,
    path: TableLocation,
    wider: Mapping[str, tuple[str, str]],
    transaction: Transaction,
    back_off: BackOff | None = None,
) -> int:
    """Give columns new types and return the version. A repeated call under the same transaction changes nothing.

    `wider` is column -> (Spark SQL type, SQL that converts the old value `{}`). Columns that the table lacks are
    ignored. The session must be the thread's own. Raises NotADeltaTableError, and CommitConflictError after many
    attempts.
    """
    partitioned = file_statistics(path).partition_columns
    allow_types(spark, path, (kind for kind, _ in wider.values()))

    def attempt() -> int:
        version, applied = applied_transaction(path, transaction.app)
        if is_replay(path, transaction, applied):
            return version
        now = read_table(spark, path)
        rows = now.select(*(_column(there, wider.get(there.name)) for there in now.schema))
        writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        return commit_with(spark, transaction, lambda: writer.partitionBy(*partitioned).save(str(path)))

    return with_retries(path, attempt, back_off or BackOff())[0]


def _column(there: StructField, wider: tuple[str, str] | None) -> Column:
    kind, convert = wider or (there.dataType, "{}")
    return sf.expr(convert.format(quote(there.name))).cast(kind).alias(there.name, metadata=there.metadata or {})

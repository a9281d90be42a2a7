"""Columns of a table get wider types: all its files are written anew, in one commit.

Delta's type widening would leave the files as they are and have them converted by whoever reads them. But readers have
to know that feature of the protocol, and those that take files from a manifest cannot: files would differ in type. Here
every live file has the table's own types, for every reader, and each older version keeps those that it had.
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
    """Give columns new types and return the version made; what was done before under that transaction is not repeated.

    `wider` are column -> (Spark SQL type, SQL that makes the new value of the old one `{}`); columns that the table
    lacks are left out. The session is this thread's own. Raises NotADeltaTableError,
    CommitConflictError after many attempts.
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

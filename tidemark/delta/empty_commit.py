"""A commit without data, once: it only carries what a transaction says."""

from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction, read_table
from tidemark.delta.internals.probe import has_private_interfaces
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.transaction_chain import is_replay
from tidemark.system.table_location import TableLocation


def commit_nothing(spark: SparkSession, path: TableLocation, transaction: Transaction) -> int:
    """The version that the commit made, or had made: the same transaction is applied once.

    Written by Spark's writer it would be planned and run as a query, for five times the processor time.
    """
    if not has_private_interfaces(spark):
        return _append_nothing(spark, path, transaction)
    txn = OptimisticTransaction(spark, path)
    if txn.has_applied(transaction):
        return txn.version
    return txn.commit([], txn.empty_operation(), transaction, transaction.metadata)


def _append_nothing(spark: SparkSession, path: TableLocation, transaction: Transaction) -> int:
    version, applied = applied_transaction(path, transaction.app)
    if is_replay(path, transaction, applied):
        return version
    nothing = spark.createDataFrame([], read_table(spark, path).schema)
    return commit_with(spark, transaction, lambda: nothing.write.format("delta").mode("append").save(str(path)))

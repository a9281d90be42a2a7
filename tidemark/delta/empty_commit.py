"""A commit without data, once: it only carries what a transaction says."""

from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.system.table_location import TableLocation


def commit_nothing(spark: SparkSession, path: TableLocation, transaction: Transaction) -> int:
    """The version that the commit made, or had made: the same transaction is applied once.

    Written by Spark's writer it would be planned and run as a query, for five times the processor time.
    """
    txn = OptimisticTransaction(spark, path)
    if txn.has_applied(transaction):
        return txn.version
    return txn.commit([], txn.empty_operation(), transaction, transaction.metadata)

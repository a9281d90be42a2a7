"""A commit without data, made once. It only carries metadata."""

from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.system.table_location import TableLocation


def commit_nothing(spark: SparkSession, path: TableLocation, transaction: Transaction) -> int:
    """Commit nothing and return the version, also if an earlier attempt made the commit.

    Spark's writer would plan and run a query for it, at five times the processor time.
    """
    txn = OptimisticTransaction(spark, path)
    if txn.has_applied(transaction):
        return txn.version
    return txn.commit([], txn.empty_operation(), transaction, transaction.metadata)

"""MERGE of a batch of changes into a Delta table, at most one change a key, pruned by partition literals (B5).

`t.dt IN (literals)` prunes the target's scan, `t.dt = s.dt` does not; the literals have to hold the partitions of the
before- *and* the after-images, or a row that moves would be found in neither and doubled (facts.md, "Delta 4.4").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from resources.delta.identifiers import path_table, quoted, typed_literal

LAST_VERSION = "spark.databricks.delta.lastCommitVersionInSession"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
TXN_APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"


@dataclass(frozen=True)
class MergeTarget:
    """`columns` are all columns of the table; `newer` the one that orders the changes of a key (never goes back)."""

    path: Path
    columns: Sequence[str]
    key: Sequence[str]
    newer: str
    partition_column: str | None
    partition_type: str | None


@dataclass(frozen=True)
class Transaction:
    """What a commit says of itself; the same (app, number) is applied once only."""

    app: str
    number: int
    metadata: str


def merge_changes(
    changes: DataFrame, target: MergeTarget, partitions: frozenset[str | None] | None, transaction: Transaction
) -> int:
    """Merge `changes` (the target's columns and `_op`, 'd' for a delete) and return the version made.

    `partitions` are the values, as text, in which the keys are or will be; None when they are not known. The
    session of `changes` must be this thread's own: commit metadata is a session setting.
    """
    spark = changes.sparkSession
    source = "changes_to_merge"
    changes.createOrReplaceTempView(source)
    return commit_with(spark, transaction, lambda: spark.sql(merge_sql(target, source, partitions)))


def commit_with(spark: SparkSession, transaction: Transaction, action: Callable[[], object]) -> int:
    """Run a Delta write under `transaction` and return the version it committed."""
    settings = {
        USER_METADATA: transaction.metadata,
        TXN_APP_ID: transaction.app,
        TXN_VERSION: str(transaction.number),
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        action()
    finally:
        for name in settings:
            spark.conf.unset(name)
    return int(str(spark.conf.get(LAST_VERSION)))


def merge_sql(target: MergeTarget, source: str, partitions: frozenset[str | None] | None) -> str:
    """The statement; changes not newer than the row they meet are left out."""
    newer = f"s.{quoted(target.newer)} > t.{quoted(target.newer)}"
    columns = [quoted(name) for name in target.columns]
    sets = ", ".join(f"t.{name} = s.{name}" for name in columns)
    return "\n".join(
        [
            f"MERGE INTO {path_table(target.path)} AS t USING {source} AS s ON {_condition(target, partitions)}",
            f"WHEN MATCHED AND s._op = 'd' AND {newer} THEN DELETE",
            f"WHEN MATCHED AND s._op <> 'd' AND {newer} THEN UPDATE SET {sets}",
            f"WHEN NOT MATCHED AND s._op <> 'd' THEN INSERT ({', '.join(columns)})",
            f"VALUES ({', '.join(f's.{name}' for name in columns)})",
        ]
    )


def _condition(target: MergeTarget, partitions: frozenset[str | None] | None) -> str:
    same_key = [f"t.{quoted(name)} = s.{quoted(name)}" for name in target.key]
    if target.partition_column is None or partitions is None:
        return " AND ".join(same_key)
    column = f"t.{quoted(target.partition_column)}"
    kind = target.partition_type or "STRING"
    literals = ", ".join(typed_literal(value, kind) for value in sorted(value for value in partitions if value))
    inside = [f"{column} IN ({literals})"] if literals else []
    # Delta keeps an empty text as NULL in a partition column.
    nulls = [f"{column} IS NULL"] if partitions & {None, ""} else []
    return " AND ".join([f"({' OR '.join(inside + nulls)})", *same_key])

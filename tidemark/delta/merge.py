"""Merges a batch of changes into a Delta table in one commit, with at most one change of each key (B5).

The log's statistics show which files may hold a key (`file_statistics`). One job over their key columns shows which
ones do (`key_lookup`). Each touched partition gets the cheapest strategy (`merge_strategy`). So the work depends on the
batch and the files that it touches, not on the size of the table. If another writer commits meanwhile, the attempt is
repeated.
"""

import itertools
from dataclasses import replace

from pyspark.sql import DataFrame

from tidemark.delta.change_batch import ChangeBatch, read_batch
from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction
from tidemark.delta.errors import ColumnsDifferError
from tidemark.delta.file_statistics import FileStatistics, file_statistics
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_strategy import MergeDecision, Strategy, summary
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.merge_transaction import attempt_merge
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import among, path_table, quote

# Features that MERGE supports and a rewrite of files does not.
_STATEMENT_PROPERTIES = {
    "delta.enableChangeDataFeed": {"true"},
    "delta.enableRowTracking": {"true"},
    "delta.columnMapping.mode": {"name", "id"},
}
_STATEMENT_COLUMNS = {
    "delta.generationExpression": "generated columns",
    "delta.identity.start": "identity columns",
    "__COLLATIONS": "collations",
}


def merge_changes(
    changes: DataFrame,
    target: MergeTarget,
    partitions: frozenset[str | None] | None,
    transaction: Transaction,
    back_off: BackOff | None = None,
) -> MergeReport:
    """Merge `changes`: the newest of each key, and only if it is newer than the table's row.

    `changes` have the target's columns and `_op`, which is 'd' for a delete. `partitions` are all partition values, as
    text, of the keys' before- *and* after-images; otherwise a row that moves would be duplicated. With None, only the
    bounds of the keys decide which files are read. `changes` are evaluated several times, so cache them. The session
    must be the thread's own, because commit metadata is a session setting. Raises NotADeltaTableError,
    ColumnsDifferError, KeyNotUniqueError before anything is written, and CommitConflictError after many attempts.
    """
    back_off = back_off or BackOff()
    look = file_statistics(target.path)
    check_columns(target, look)
    reason = _needs_statement(look)
    batch = read_batch(changes, target)
    if reason:
        return _by_statement(batch, target, partitions, transaction, reason, back_off)
    looks = itertools.chain([look], iter(lambda: file_statistics(target.path), None))
    report, retries = with_retries(
        target.path, lambda: attempt_merge(next(looks), batch, target, partitions, transaction), back_off
    )
    return replace(report, retries=retries)


def check_columns(target: MergeTarget, look: FileStatistics) -> None:
    """Raise ColumnsDifferError unless the target has exactly the table's columns, with its key and order among them."""
    wanted = {*target.columns, *target.key, target.newer}
    if target.partition_column:
        wanted.add(target.partition_column)
    if wanted != set(look.columns):
        raise ColumnsDifferError.of(target.path, wanted, look.columns)


def _needs_statement(look: FileStatistics) -> str | None:
    """Why the table needs a MERGE statement; None if it does not."""
    if not look.has_unique_names:
        return "the table has files of the same name"
    named = (name for name, values in _STATEMENT_PROPERTIES.items() if look.properties.get(name) in values)
    of_columns = (words for key, words in _STATEMENT_COLUMNS.items() if key in look.column_metadata)
    feature = next(named, None) or next(of_columns, None)
    return feature and f"the table has {feature}"


def _by_statement(
    batch: ChangeBatch,
    target: MergeTarget,
    partitions: frozenset[str | None] | None,
    transaction: Transaction,
    reason: str,
    back_off: BackOff,
) -> MergeReport:
    decision = MergeDecision(None, Strategy.MERGE, reason)
    described = replace(transaction, metadata=transaction.metadata_with(merge={"strategy": summary([decision])}))

    def attempt() -> MergeReport:
        version, applied = applied_transaction(target.path, transaction.app)
        if is_replay(target.path, transaction, applied):
            return MergeReport(version, replayed=True)
        return MergeReport(run_merge_statement(batch.changes, target, partitions, described), decisions=(decision,))

    report, retries = with_retries(target.path, attempt, back_off)
    return replace(report, retries=retries)


_SOURCE = "changes_to_merge"


def run_merge_statement(
    changes: DataFrame, target: MergeTarget, partitions: frozenset[str | None] | None, transaction: Transaction
) -> int:
    """Merge with one statement and return the version. A replay (same application and number) changes nothing."""
    spark = changes.sparkSession
    changes.createOrReplaceTempView(_SOURCE)
    return commit_with(spark, transaction, lambda: spark.sql(merge_sql(target, _SOURCE, partitions)))


def merge_sql(target: MergeTarget, source: str, partitions: frozenset[str | None] | None) -> str:
    """The statement. Changes that are not newer than the table's row are ignored."""
    newer = f"s.{quote(target.newer)} > t.{quote(target.newer)}"
    columns = [quote(name) for name in target.columns]
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
    same_key = [f"t.{quote(name)} = s.{quote(name)}" for name in target.key]
    if target.partition_column is None or partitions is None:
        return " AND ".join(same_key)
    inside = among(f"t.{quote(target.partition_column)}", target.partition_type or "STRING", partitions)
    return " AND ".join([inside, *same_key])

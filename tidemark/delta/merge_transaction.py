"""One attempt at a merge: from the newest version to one commit, or to nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidemark.delta.change_batch import ChangeBatch
from tidemark.delta.commit_conflict import StaleReadError
from tidemark.delta.commit_info import Transaction
from tidemark.delta.file_statistics import FileStatistics, possible_keys
from tidemark.delta.internals.deletion_vectors import hidden_rows, size_of
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.key_lookup import BROADCAST_ROWS, KeyMatches, look_up_keys, no_matches
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_strategy import MergeDecision, Strategy, TouchedPartition, decide, is_small
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import among, quote
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.system.crash_points import crash_point

# Partition types with the same text in Spark and in the log.
_SAME_TEXT = {"STRING", "DATE", "BIGINT", "INT", "SMALLINT", "TINYINT"}
# Bytes for each task: fewer tasks leave cores idle, more tasks leave more files for readers.
_TASK_BYTES = 2_000_000
_ONE_TASK_ROWS = 100_000
# Up to this number of files, passing each file to Delta is faster than listing all.
_MOST_NAMED = 200


def attempt_merge(
    look: FileStatistics,
    batch: ChangeBatch,
    target: MergeTarget,
    partitions: frozenset[str | None] | None,
    transaction: Transaction,
) -> MergeReport:
    """Merge a batch into the version of `look`.

    Raises KeyNotUniqueError, and the errors that `commit_conflict` retries.
    """
    txn = OptimisticTransaction(batch.changes.sparkSession, target.path)
    if txn.version != look.version:
        raise StaleReadError
    if txn.has_applied(transaction):
        return MergeReport(txn.version, replayed=True)
    txn.depends_on(_inside(target, partitions))
    candidates = _candidates(txn, look, batch, target, partitions)
    sizes = look.size_of()
    rows = batch.keys.num_rows + sum(sizes[name][1] for name in candidates)
    with settings(batch.changes.sparkSession, worth_compiling(rows)):
        met = look_up_keys(txn, candidates.values(), batch, target) if candidates else no_matches(batch, target)
        plan = _plan(look.partition_of(), sizes, candidates, met, batch, has_vectors=txn.has_deletion_vectors)
        return _carry_out(txn, plan, batch, target, transaction)


@dataclass(frozen=True)
class _Plan:
    """`files` are files with replaced or deleted rows, by name; `sizes` has (bytes, rows) of `candidates`."""

    candidates: Mapping[str, Any]
    files: Mapping[str, Any]
    partition_of: Mapping[str, str | None]
    sizes: Mapping[str, tuple[int, int]]
    met: KeyMatches
    decisions: tuple[MergeDecision, ...]

    def rewritten_files(self) -> dict[str, Any]:
        """The files to rewrite. In partitions with hidden rows, small files are folded into the new file.

        Otherwise every merge would leave a small file in each partition, and files cost readers more than rows.
        """
        folded = {
            name: file
            for name, file in self._of(self.candidates, Strategy.DELETION_VECTORS)
            if is_small(self.sizes[name][0])
        }
        return {**dict(self._of(self.files, Strategy.REWRITE)), **folded}

    def files_to_mark(self) -> dict[str, Any]:
        """The files whose rows are only marked."""
        return {
            name: file
            for name, file in self._of(self.files, Strategy.DELETION_VECTORS)
            if not is_small(self.sizes[name][0])
        }

    def _of(self, files: Mapping[str, Any], strategy: Strategy) -> Iterator[tuple[str, Any]]:
        chosen = {decision.partition for decision in self.decisions if decision.strategy is strategy}
        return ((name, file) for name, file in files.items() if self.partition_of[name] in chosen)

    def bytes_of(self, names: Mapping[str, Any]) -> int:
        return sum(self.sizes[name][0] for name in names)


def _inside(target: MergeTarget, partitions: frozenset[str | None] | None) -> str | None:
    if target.partition_column is None or partitions is None:
        return None
    return among(quote(target.partition_column), target.partition_type or "STRING", partitions)


def _candidates(
    txn: OptimisticTransaction,
    look: FileStatistics,
    batch: ChangeBatch,
    target: MergeTarget,
    partitions: frozenset[str | None] | None,
) -> dict[str, Any]:
    """The files that may hold a key of the batch."""
    is_same_text = (target.partition_type or "").upper() in _SAME_TEXT
    within = partitions if target.partition_column and is_same_text else None
    names = possible_keys(look, batch.keys.select(list(target.key)), within)
    if not names:
        return {}
    logged = look.add_actions(names) if len(names) <= _MOST_NAMED else None
    if logged is not None:
        return txn.files_of(logged)
    there = look.partition_of()
    predicate = _inside(target, frozenset(there[name] for name in names)) if is_same_text else None
    return txn.files(names, predicate)


def _plan(
    partition_of: Mapping[str, str | None],
    sizes: Mapping[str, tuple[int, int]],
    candidates: Mapping[str, Any],
    met: KeyMatches,
    batch: ChangeBatch,
    *,
    has_vectors: bool,
) -> _Plan:
    going = met.going_by_file()
    by_partition: dict[str | None, list[str]] = defaultdict(list)
    for name in candidates:
        by_partition[partition_of[name]].append(name)
    decisions = []
    for partition in sorted({*by_partition, *batch.destinations}, key=lambda text: text or ""):
        names = by_partition[partition]
        touched = [name for name in names if name in going]
        counted = TouchedPartition(
            partition=partition,
            candidates=len(names),
            files=len(touched),
            size_bytes=sum(sizes[name][0] for name in touched),
            rows=sum(sizes[name][1] for name in touched),
            matched=sum(going[name] for name in touched),
            hidden=sum(hidden_rows(candidates[name]) for name in touched) if has_vectors else 0,
        )
        decisions.append(decide(counted, has_deletion_vectors=has_vectors))
    files = {name: candidates[name] for name in going}
    return _Plan(candidates, files, partition_of, sizes, met, tuple(decisions))


def _carry_out(
    txn: OptimisticTransaction, plan: _Plan, batch: ChangeBatch, target: MergeTarget, transaction: Transaction
) -> MergeReport:
    rewritten = plan.rewritten_files()
    changes = _without_stale(batch, plan.met, target)
    frames = [_survivors(txn, rewritten, changes, batch, target)] if rewritten else []
    if batch.destinations:
        frames.append(_few_files(changes.where("_op <> 'd'").select(*map(quote, txn.columns)), batch.keys.num_rows))
    hidden = plan.files_to_mark()
    marks = txn.hide((file, plan.met.positions(name)) for name, file in hidden.items()) if hidden else []
    added = txn.write(_one_frame(txn, frames, plan.bytes_of(rewritten))) if frames else []
    crash_point("merge.files_written")
    report = _report(plan, batch, rewritten, added)
    metadata = transaction.metadata_with(merge=report.as_metadata())
    operation = txn.merge_operation(report.as_operation_metrics(batch.keys.num_rows))
    version = txn.commit([*txn.removal(rewritten.values()), *marks, *added], operation, transaction, metadata)
    crash_point("merge.committed")
    return replace(report, version=version)


def _without_stale(batch: ChangeBatch, met: KeyMatches, target: MergeTarget) -> DataFrame:
    if not met.stale.num_rows:
        return batch.changes
    stale = batch.changes.sparkSession.createDataFrame(met.stale.select(list(target.key)))
    return batch.changes.join(sf.broadcast(stale), list(target.key), "left_anti")


def _survivors(
    txn: OptimisticTransaction, files: Mapping[str, Any], changes: DataFrame, batch: ChangeBatch, target: MergeTarget
) -> DataFrame:
    keys = changes.select(*map(quote, target.key))
    if batch.keys.num_rows <= BROADCAST_ROWS:
        keys = sf.broadcast(keys)
    return txn.read(files.values()).join(keys, list(target.key), "left_anti").select(*map(quote, txn.columns))


def _few_files(rows: DataFrame, count: int) -> DataFrame:
    return rows.coalesce(1) if count <= _ONE_TASK_ROWS else rows


def _one_frame(txn: OptimisticTransaction, frames: Sequence[DataFrame], size_bytes: int) -> DataFrame:
    typed = [txn.cast_to_table(frame) for frame in frames]
    whole = typed[0] if len(typed) == 1 else typed[0].unionByName(typed[1])
    return whole.coalesce(max(1, size_bytes // _TASK_BYTES)) if len(typed) > 1 else whole


def _report(plan: _Plan, batch: ChangeBatch, rewritten: Mapping[str, Any], added: Sequence[Any]) -> MergeReport:
    ops = Counter(plan.met.going["_op"].to_pylist())
    deleted, updated = ops.pop("d", 0), sum(ops.values())
    stale = plan.met.stale
    written = int(pc.sum(pc.not_equal(batch.keys["_op"], "d")).as_py() or 0)
    stale_writes = int(pc.sum(pc.not_equal(stale["_op"], "d")).as_py() or 0)
    going = plan.met.going_by_file()
    return MergeReport(
        version=-1,
        inserted=written - stale_writes - updated,
        updated=updated,
        deleted=deleted,
        stale=stale.num_rows,
        rows_copied=sum(
            plan.sizes[name][1] - going.get(name, 0) - hidden_rows(file) for name, file in rewritten.items()
        ),
        files_read=len(plan.candidates),
        bytes_read=plan.bytes_of(plan.candidates),
        files_removed=len(rewritten),
        bytes_removed=plan.bytes_of(rewritten),
        files_added=len(added),
        bytes_added=sum(map(size_of, added)),
        decisions=plan.decisions,
    )

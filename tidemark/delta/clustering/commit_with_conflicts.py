"""Commits the groups that are still valid after commits of other writers, which mostly touch other partitions.

An OPTIMIZE does not change the content, so appends never conflict with it. If another commit rewrites a file, or hides
its rows, the file's group is invalid and is read again. Other groups are committed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from tidemark.delta.clustering.file_groups import CLUSTERED, FileGroup, partition_key
from tidemark.delta.clustering.rewrite import Rewritten
from tidemark.delta.commit_conflict import RETRYABLE, BackOff, StaleReadError, require_same_definition
from tidemark.delta.errors import ColumnsDifferError
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile, bytes_of
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class Label:
    """The description of a pass in history and files: columns, predicate, and the tag that later passes look for."""

    columns: tuple[str, ...]
    where: str | None
    tag: str


@dataclass(frozen=True)
class Committed:
    """The result of a commit: `version` is None if no group was valid; `fallen` groups have to be read again."""

    version: int | None
    stood: tuple[FileGroup, ...]
    fallen: tuple[FileGroup, ...]


def source_files(txn: OptimisticTransaction, where: str | None) -> list[LiveFile]:
    """The live files that can hold rows that match `where`."""
    handles = txn.files_matching(where)
    return [LiveFile(file, handle) for file, handle in zip(txn.describe(handles), handles, strict=True)]


def commit_groups(
    txn: OptimisticTransaction,
    spark: SparkSession,
    path: TableLocation,
    batch: Sequence[FileGroup],
    done: Rewritten,
    label: Label,
    back_off: BackOff,
) -> Committed:
    """Commit a batch, or after a conflict the groups with unchanged files. Raises ColumnsDifferError."""
    definition, standing = txn.definition, tuple(batch)
    for attempt in range(1, back_off.attempts + 1):
        try:
            with require_same_definition(path):
                version = _commit(txn, standing, done, label)
        except RETRYABLE:
            back_off.pause(attempt)
            txn = OptimisticTransaction(spark, path)
            if txn.definition != definition:
                raise ColumnsDifferError.changed(
                    path, StaleReadError("other columns, properties or features")
                ) from None
            standing = _standing(txn, standing, label.where)
            if not standing:
                break
        else:
            fallen = tuple(group for group in batch if group not in standing)
            return Committed(version, standing, fallen)
    return Committed(None, (), tuple(batch))


def _commit(txn: OptimisticTransaction, groups: Sequence[FileGroup], done: Rewritten, label: Label) -> int:
    keys = {group.key for group in groups}
    added = [new_file for new_file in done.added if partition_key(new_file["partitionValues"]) in keys]
    removed = [file for group in groups for file in group.files]
    actions = txn.unchanging_removal([file.handle for file in removed])
    actions += txn.unchanging(added, {CLUSTERED: label.tag})
    operation = txn.optimize_operation(label.columns, label.where, metrics(added, removed))
    crash_point("cluster.before_commit")
    version = txn.commit(actions, operation, None, "")
    crash_point("cluster.after_commit")
    return version


def metrics(added: Sequence[Mapping[str, Any]], removed: Sequence[LiveFile]) -> dict[str, int]:
    """The counts of an OPTIMIZE by Delta's names."""
    sizes = [int(file["size"]) for file in added]
    return {
        "numAddedFiles": len(added),
        "numRemovedFiles": len(removed),
        "numAddedBytes": sum(sizes),
        "numRemovedBytes": bytes_of(removed),
        "minFileSize": min(sizes, default=0),
        "maxFileSize": max(sizes, default=0),
    }


def _standing(txn: OptimisticTransaction, groups: Sequence[FileGroup], where: str | None) -> tuple[FileGroup, ...]:
    there = {file.identity for file in source_files(txn, where)}
    return tuple(group for group in groups if all(file.identity in there for file in group.files))

"""`cluster_table`: moves rows with similar keys into the same files, in one pass, as an OPTIMIZE (B6, B7)."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pyspark.sql import SparkSession

from tidemark.delta.clustering.clusterable_columns import ClusterColumn, cluster_columns, require_clusterable
from tidemark.delta.clustering.commit_with_conflicts import Committed, Label, commit_groups, source_files
from tidemark.delta.clustering.file_groups import FileGroup, batches, files_to_cluster, groups_of, partition_key
from tidemark.delta.clustering.report import ClusterReport
from tidemark.delta.clustering.rewrite import Rewritten, rewrite_groups
from tidemark.delta.commit_conflict import BackOff, StaleReadError
from tidemark.delta.errors import CommitConflictError
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.spark.temporary_settings import COMPILED
from tidemark.system.table_location import TableLocation

MEGABYTE = 1_000_000
# For smaller tables compiled code costs more than interpretation.
_COMPILED_BYTES = 32 * MEGABYTE


@dataclass(frozen=True)
class Clustering:
    """The columns with weights (the share of filters on each), and the size of files."""

    weights: Mapping[str, float]
    target_bytes: int = 128 * MEGABYTE

    @property
    def spec(self) -> str:
        return ",".join(f"{name}:{weight:g}" for name, weight in self.weights.items())

    @classmethod
    def by(cls, *columns: str, target_bytes: int = 128 * MEGABYTE) -> "Clustering":
        return cls(dict.fromkeys(columns, 1.0), target_bytes)


@dataclass
class _Run:
    """The state of one call: its results so far."""

    spark: SparkSession
    path: TableLocation
    columns: tuple[ClusterColumn, ...]
    label: Label
    back_off: BackOff
    report: ClusterReport = field(default_factory=ClusterReport)


def cluster_table(
    spark: SparkSession,
    path: TableLocation,
    clustering: Clustering,
    *,
    where: str | None = None,
    only: Literal["all", "new"] = "all",
    back_off: BackOff | None = None,
) -> ClusterReport:
    """Rewrite a table's files, each with a narrow range of every key. The content stays, and this is verified.

    `where` (SQL, best on partition columns) chooses files. `only="new"` chooses files that no earlier call with the
    same columns wrote, and clustered files that overlap them badly, so its cost follows the new data. Files stay in
    their partition. Other writers may append, merge and delete meanwhile: changed partitions are read again. Raises
    before any work NotADeltaTableError, ClusterColumnError, ClusterTableError; later ContentChangedError,
    ColumnsDifferError, CommitConflictError.
    """
    look = file_statistics(path)
    require_clusterable(path, look.properties, look.features)
    session = _session(spark, look.size_bytes)
    txn = OptimisticTransaction(session, path)
    columns = cluster_columns(path, txn.schema, txn.partition_columns, look.properties, clustering.weights)
    label = Label(tuple(column.name for column in columns), where, f"{clustering.spec}#{uuid.uuid4().hex}")
    run = _Run(session, path, columns, label, back_off or BackOff())

    def choose(txn: OptimisticTransaction) -> list[FileGroup]:
        files = source_files(txn, where)
        if only == "new":
            files = files_to_cluster(files, clustering.spec, columns, clustering.target_bytes)
        return groups_of(files, clustering.target_bytes)

    # The first batch uses the transaction of the choice, because listing the files again takes as long again.
    begun: OptimisticTransaction | None = txn
    for batch in batches(choose(txn)):
        _until_committed(run, batch, choose, begun)
        begun = None
    return run.report


def _until_committed(
    run: _Run,
    batch: Sequence[FileGroup],
    choose: Callable[[OptimisticTransaction], list[FileGroup]],
    begun: OptimisticTransaction | None,
) -> None:
    """Rewrite and commit the batch, with retries. The first attempt uses the transaction `begun`, if there is one."""
    for attempt in range(run.back_off.attempts):
        if not batch:
            return
        if attempt:
            run.back_off.pause(attempt)
        txn = begun or OptimisticTransaction(run.spark, run.path)
        groups = list(batch) if begun else _as_they_are_now(batch, choose(txn))
        begun = None
        if not groups:
            return
        done = rewrite_groups(txn, run.spark, run.path, groups, run.columns)
        result = commit_groups(txn, run.spark, run.path, groups, done, run.label, run.back_off)
        run.report = _with(run.report, result, done)
        batch = result.fallen
    if batch:
        raise CommitConflictError.of(
            run.path, run.back_off.attempts, StaleReadError(f"{len(batch)} partitions kept changing")
        )


def _as_they_are_now(batch: Sequence[FileGroup], groups: Sequence[FileGroup]) -> list[FileGroup]:
    """The batch's partitions with their current files."""
    keys = {group.key for group in batch}
    return [group for group in groups if group.key in keys]


def _with(report: ClusterReport, result: Committed, done: Rewritten) -> ClusterReport:
    keys = {group.key for group in result.stood}
    added = [file for file in done.added if partition_key(file["partitionValues"]) in keys]
    versions = () if result.version is None else (result.version,)
    return ClusterReport(
        versions=(*report.versions, *versions),
        files_before=report.files_before + sum(len(group.files) for group in result.stood),
        files_after=report.files_after + len(added),
        bytes_before=report.bytes_before + sum(group.size_bytes for group in result.stood),
        rows=report.rows + sum(int(json.loads(file["stats"])["numRecords"]) for file in added),
        again=report.again + len(result.fallen),
    )


def _session(spark: SparkSession, size_bytes: int) -> SparkSession:
    """A new session, because the pass has its own settings. A large pass is compiled."""
    session = spark.newSession()
    if size_bytes >= _COMPILED_BYTES:
        for name, value in COMPILED.items():
            session.conf.set(name, value)
    return session

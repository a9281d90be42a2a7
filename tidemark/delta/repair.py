"""Repairs one historical partition: restores an older version or replaces it by computed rows (B9).

Every other partition and all older versions stay unchanged. If a writer commits to the partition between plan and
commit, the repair fails and does not overwrite these rows, because the plan did not show them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.delta.commit_conflict import RETRYABLE, require_same_definition
from tidemark.delta.errors import PartitionChangedError
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile, rows_of, write_counts
from tidemark.delta.maintenance_lease import maintaining
from tidemark.delta.own_commit import REPAIR
from tidemark.delta.partition_predicate import literal, partition_predicate, partitions_last
from tidemark.delta.repair_plan import RepairPlan, plan_in_transaction
from tidemark.state_store.database import Database
from tidemark.strict_json import json_text
from tidemark.system.crash_points import crash_point


@dataclass(frozen=True)
class RepairReport:
    """`version` is the version of the commit, or of the unchanged table; `rows` counts the partition's rows."""

    plan: RepairPlan
    version: int
    rows: int
    files_written: int = 0
    bytes_written: int = 0


Audit = Callable[[DataFrame], None]
"""Checks the partition's new rows, its columns last. It raises to prevent the commit."""


def repair_partition(
    spark: SparkSession, plan: RepairPlan, database: Database, rows: DataFrame | None = None, audit: Audit | None = None
) -> RepairReport:
    """Carry out a plan in one commit. `rows` are the new content for a plan to recompute.

    `audit` checks the files before they become the table's (A5), unless nothing is to do. `spark` must be the thread's
    own session; `rows` may lack the partition's columns. Raises PartitionChangedError if a writer changed the partition
    since the plan, ColumnsDifferError if one changed the schema, VersionGoneError, and AlreadyRunningError while the
    table is repaired or vacuumed (a lease in the state store `database`).
    """
    if (plan.way == "recompute") != (rows is not None):
        raise ValueError("rows are only allowed with a plan to compute them")
    with maintaining(database, plan.path):
        txn = OptimisticTransaction(spark, plan.path)
        current = plan_in_transaction(txn, plan.path, plan.partition, plan.source)
        if _identities(current.removed) != _identities(plan.removed) or current.rows_now != plan.rows_now:
            raise PartitionChangedError.of(plan.path, plan.partition, plan.at, txn.version)
        if current.way == "nothing":
            return RepairReport(current, txn.version, current.rows_now)
        txn.depends_on(partition_predicate(plan.partition))
        crash_point("repair.before_write")
        added = _write_files(txn, current, rows)
        crash_point("repair.files_written")
        if audit is not None:
            audit(partitions_last(txn.read(added), plan.partition))
        return _commit(txn, current, added)


def _write_files(txn: OptimisticTransaction, plan: RepairPlan, rows: DataFrame | None) -> list[Any]:
    if plan.way == "metadata":
        return [txn.put_back(file.described) for file in plan.restored]
    if rows is None:
        rows = txn.read([file.handle for file in plan.restored], plan.source)
    return txn.write(txn.cast_to_table(_with_partition(rows, plan, txn)))


def _with_partition(rows: DataFrame, plan: RepairPlan, txn: OptimisticTransaction) -> DataFrame:
    """The rows with the table's current columns: the partition's, and NULL for columns added later."""
    missing = {name: sf.lit(None) for name in txn.columns if name not in rows.columns}
    return rows.withColumns({**missing, **{name: literal(value) for name, value in plan.partition.items()}})


def _commit(txn: OptimisticTransaction, plan: RepairPlan, added: Sequence[Any]) -> RepairReport:
    crash_point("repair.before_commit")
    told = [LiveFile(add) for add in txn.describe(list(added))]
    rows = plan.rows_now - rows_of(plan.removed) + rows_of(told)
    counts = write_counts(told)
    written = (0, 0) if plan.way == "metadata" else (counts["numFiles"], counts["numOutputBytes"])
    operation = txn.overwrite_operation(partition_predicate(plan.partition), counts)
    actions = [*txn.removal(file.handle for file in plan.removed), *added]
    try:
        with require_same_definition(plan.path):
            version = txn.commit(actions, operation, None, json_text({REPAIR: _said(plan, rows)}))
    except RETRYABLE as error:
        raise PartitionChangedError.of(plan.path, plan.partition, plan.at, None) from error
    crash_point("repair.after_commit")
    return RepairReport(plan, version, rows, *written)


def _said(plan: RepairPlan, rows: int) -> dict[str, object]:
    return {
        "partition": {name: str(value) for name, value in plan.partition.items()},
        "from_version": plan.source,
        "way": plan.way,
        "reason": plan.reason,
        "rows_before": plan.rows_now,
        "rows_after": rows,
    }


def _identities(files: Sequence[LiveFile]) -> set[tuple[str, str]]:
    return {file.identity for file in files}

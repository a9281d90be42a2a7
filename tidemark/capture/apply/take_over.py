"""The first commit that a capture makes to a table that another data folder's capture has written.

The lease says who may go on; who had it before may still be in the middle of a step. This commit takes the place of the
next one in the table's chain, so that one is refused. Only then is it known which late changes belong to no commit.
"""

from dataclasses import replace

from pyspark.sql import SparkSession

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.snapshots.late.late_change_table import LateChanges
from tidemark.delta.empty_commit import commit_nothing
from tidemark.system.table_location import TableLocation


def take_over(
    spark: SparkSession, warehouse: TableLocation, table: str, state: CommitState, version: int | None
) -> tuple[int | None, CommitState]:
    """Commit nothing under the state's lease, where the newest commit is of another one: (version made, state).

    `version` is the table's, up to which nobody else changed rows.

    Raises ForeignCommitError where the other one committed meanwhile, FencedWriteError.
    """
    if state.lease is None or state.lease.fencing_token == state.fencing_token:
        return None, state
    session = spark.newSession()
    late = LateChanges(session, warehouse, table)
    late.take_over(state)
    after = replace(state.next(changes=0, late=0), follows=version).with_identity(table)
    made = commit_nothing(session, warehouse / table, after.transaction(table))
    late.forget_uncommitted(after)
    return made, after

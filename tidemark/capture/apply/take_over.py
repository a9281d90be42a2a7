"""The first commit to a table that another data folder's capture has written.

The lease says which capture may go on, but the earlier holder may still be in the middle of a step. This commit takes
the next place in the table's chain of commits, so the earlier holder's commit is refused. Only then is it known which
late changes belong to no commit.
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
    """Make an empty commit under the state's lease, if the newest commit has another lease.

    Returns the version made (or None) and the state. Up to `version`, the table's version, no other program changed
    rows. Raises FencedWriteError, and ForeignCommitError if the other capture committed meanwhile.
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

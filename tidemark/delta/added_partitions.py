"""The partitions that a table's commits added rows to between two versions, by the log alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tidemark.delta.internals.log_files import commit_actions
from tidemark.delta.open_table import open_table

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

PartitionTexts = tuple[tuple[str, str | None], ...]
"""The values of a partition by column, as the log has them; None for NULL."""


def added_partitions(path: TableLocation, after: int, until: int) -> frozenset[PartitionTexts] | None:
    """The partitions that commits after one version, up to another, added rows to.

    None if the log no longer has all of these commits. Files that only move rows do not count.
    """
    partitions: set[PartitionTexts] = set()
    for version in range(after + 1, until + 1):
        actions = commit_actions(path, version)
        if actions is None:
            return None
        added = (action["add"] for action in actions if action.get("add"))
        partitions.update(tuple(sorted(add["partitionValues"].items())) for add in added if add.get("dataChange", True))
    return frozenset(partitions)


def table_state(path: TableLocation, version: int) -> str:
    """A text that changes if the table is another one, or has other columns or partition columns."""
    table = open_table(path, version)
    metadata = table.metadata()
    told = f"{metadata.id}\n{table.schema().to_json()}\n{metadata.partition_columns}"
    return hashlib.sha256(told.encode()).hexdigest()[:16]

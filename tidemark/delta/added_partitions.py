"""Into which partitions a table's commits have put rows between two versions: from the log alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tidemark.delta.internals.log_files import commit_actions
from tidemark.delta.open_table import open_table

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

PartitionTexts = tuple[tuple[str, str | None], ...]
"""The values of a partition as the log has them, None for NULL, by column."""


def added_partitions(path: TableLocation, after: int, until: int) -> frozenset[PartitionTexts] | None:
    """The partitions that a commit after one version, up to another, has put rows into.

    None where the log does not have all of those commits any more. Files that only move rows count as nothing.
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
    """A text that is another one for another table at this place, or with other columns or partitions."""
    table = open_table(path, version)
    metadata = table.metadata()
    told = f"{metadata.id}\n{table.schema().to_json()}\n{metadata.partition_columns}"
    return hashlib.sha256(told.encode()).hexdigest()[:16]

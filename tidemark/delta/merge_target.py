"""The table that a batch of changes is merged into."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class MergeTarget:
    """`columns` are all columns of the table; `newer` the one that orders the changes of a key (never goes back)."""

    path: TableLocation
    columns: Sequence[str]
    key: Sequence[str]
    newer: str
    partition_column: str | None
    partition_type: str | None

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class MergeTarget:
    """The table to merge into.

    `columns` are all its columns; `newer` orders the changes of a key and never goes back.
    """

    path: TableLocation
    columns: Sequence[str]
    key: Sequence[str]
    newer: str
    partition_column: str | None
    partition_type: str | None

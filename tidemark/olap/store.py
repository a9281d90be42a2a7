"""What an OLAP store does for the warehouse: it takes whole partitions and gives them back (B8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.olap.partition_values import Partition


@dataclass(frozen=True)
class Publication:
    """What a published partition holds, as read back from the store before the commit.

    `checksum` is `content_checksum` over the columns of the published data; `added_columns` are those that the table
    did not have before (all of them when the table is new).
    """

    table: str
    rows: int
    checksum: str
    added_columns: tuple[str, ...]


class OlapStore(Protocol):
    """Partitions for BI tools. Safe to call from several threads and processes at once."""

    def publish(self, table: str, data: pa.Table, partition: Partition) -> Publication:
        """Replace the partition by `data` in one transaction; the same call again changes nothing.

        The rows are read back and compared with `data` (count and content checksum) before the commit. A missing table
        is created, a missing column added; an empty `partition` stands for the whole table.

        Raises OlapComparisonError (rolled back), OlapSchemaError, OlapTypeError, OlapPartitionError,
        IdentifierError, OlapBusyError (try again later), OlapStoreError.
        """
        ...

    def read(self, table: str, partition: Partition) -> pa.Table:
        """The rows of the partition with all columns of the table, in no particular order.

        Raises OlapTableMissingError, OlapBusyError, OlapStoreError.
        """
        ...

    def remove(self, table: str, partition: Partition) -> None:
        """Take the rows of the partition away in one transaction; nothing where there is no such table.

        Raises OlapBusyError, OlapStoreError.
        """
        ...

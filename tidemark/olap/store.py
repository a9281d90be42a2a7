"""The interface of an OLAP store, which takes whole partitions and returns them (B8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.olap.partition_values import Partition


@dataclass(frozen=True)
class Publication:
    """The content of a published partition, as read back from the store before the commit.

    `checksum` is `content_checksum` over the columns of the published data. `added_columns` are the columns that the
    table did not have before (all columns of a new table).
    """

    table: str
    rows: int
    checksum: str
    added_columns: tuple[str, ...]


class OlapStore(Protocol):
    """Partitions for BI tools. Safe to call from several threads and processes at once."""

    def publish(self, table: str, data: pa.Table, partition: Partition) -> Publication:
        """Replace the partition by `data` in one transaction. A repeated call changes nothing.

        The rows are read back and compared with `data` (count and content checksum) before the commit. A missing table
        is created, a missing column added. An empty `partition` means the whole table. Raises OlapComparisonError
        (rolled back), OlapSchemaError, OlapTypeError, OlapPartitionError, IdentifierError, OlapBusyError (try again
        later), OlapStoreError.
        """
        ...

    def read(self, table: str, partition: Partition) -> pa.Table:
        """The rows of the partition with all columns of the table, in any order.

        Raises OlapTableMissingError, OlapBusyError, OlapStoreError.
        """
        ...

    def remove(self, table: str, partition: Partition) -> None:
        """Delete the rows of the partition in one transaction; nothing happens if there is no such table.

        Raises OlapBusyError, OlapStoreError.
        """
        ...

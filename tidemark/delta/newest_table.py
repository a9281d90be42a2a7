"""A table's newest version, with the cheapest way to its size and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tidemark.delta.delta_rs_table import TableLog, read_table
from tidemark.delta.internals.listed_table import ListedTable
from tidemark.delta.live_file import written_rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class NewestTable:
    """The newest version at the time of opening, by Spark alone if the version's checksum lists its files.

    Spark reads the slice in the end. So a log in an object store is not read by two readers.
    """

    _spark: SparkSession
    _path: TableLocation
    _opened: ListedTable | TableLog

    @classmethod
    def if_there(cls, spark: SparkSession, path: TableLocation) -> Self | None:
        """The newest version; None if there is no table. Raises the errors of `open_table`."""
        opened = ListedTable.newest(spark, path) or TableLog.if_there(path)
        return None if opened is None else cls(spark, path, opened)

    @property
    def version(self) -> int:
        return self._opened.version

    def written_rows(self, partitions: Sequence[Partition] = ()) -> int:
        """Rows in the files of these partitions, or of all if there are none.

        Rows that deletion vectors hide count too.
        """
        if isinstance(self._opened, TableLog):
            return self._opened.written_rows(partitions)
        files = self._opened.files_of(partitions or None)
        return written_rows_of(self._opened.files if files is None else files)

    def rows(self, partitions: Sequence[Partition] | None = None) -> DataFrame:
        """The rows of these partitions (all if None), and possibly other rows: a caller filters them if needed.

        With few files it is a frame of this version, otherwise Spark's own, which finds the newest version when it
        runs.
        """
        few = self._opened.rows(partitions) if isinstance(self._opened, ListedTable) else None
        return read_table(self._spark, self._path) if few is None else few

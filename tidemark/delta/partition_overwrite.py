"""What one overwrite of partitions is asked to do, and what became of it: write, audit, publish (A5).

Files are written, their rows are judged, and only what is released becomes the table's, in one commit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import DataFrame

from tidemark.delta.delta_rs_table import Partition, TableMetrics
from tidemark.delta.live_file import LiveFile, bytes_of, files_of, rows_of
from tidemark.delta.partition_predicate import any_partition_predicate
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class WrittenRows:
    """What an overwrite wrote and no version has yet: `rows` read it, partition columns last.

    `files` are those of each partition on this machine's disk; None where they are elsewhere, or where a file does not
    name its columns as the table does.
    """

    rows: DataFrame
    files: tuple[tuple[Path, ...], ...] | None = None


Release = Callable[[WrittenRows], Sequence[bool]]
"""For each partition whether what was written may become the table's."""


def always_allowed() -> None:
    """Of what nobody else could take over meanwhile."""


def release_all(partitions: Sequence[Partition]) -> Release:
    """What releases every partition without a look at its rows."""
    return lambda _: [True] * len(partitions)


@dataclass(frozen=True)
class Replaced:
    """One overwrite: what is in each partition now, and all that was written as `rows`, partition columns last.

    A partition that was not published is as it was; its `metrics` are of the files that were refused, and `aside` are
    their paths in the table's folder: no version names them, and a vacuum deletes them. `version` is the commit's, or
    the table's where none was made (-1: there is no table). `files` are all those of each partition; None where they
    are not known, or do not name their columns as the table does.
    """

    version: int
    metrics: tuple[TableMetrics, ...]
    rows: DataFrame
    published: tuple[bool, ...]
    aside: tuple[tuple[str, ...], ...]
    files: tuple[tuple[LiveFile, ...], ...] | None = None


@dataclass(frozen=True)
class PartitionOverwrite:
    """`whole` is the content of all `partitions`, their columns with it.

    What was released and is committed later, on what another writer left, is `still_allowed`, or that raises.
    """

    whole: DataFrame
    path: TableLocation
    partitions: Sequence[Partition]
    release: Release
    still_allowed: Callable[[], None]

    @property
    def columns(self) -> list[str]:
        """The partition columns; none for a table that is one slice."""
        return list(self.partitions[0])

    @property
    def predicate(self) -> str | None:
        """Which rows are replaced; None for all of them."""
        if not self.columns:
            return None
        return any_partition_predicate(self.partitions)

    @property
    def texts(self) -> list[dict[str, str]]:
        """The partitions as the log writes them."""
        return [{name: str(value) for name, value in partition.items()} for partition in self.partitions]

    def written(self, rows: DataFrame, files: Sequence[LiveFile]) -> WrittenRows:
        """What is in these files, whose columns have the table's names."""
        if not isinstance(self.path, Path):
            return WrittenRows(rows)
        own = ([unquote(path) for path in _paths(files_of(files, [text]))] for text in self.texts)
        return WrittenRows(rows, tuple(tuple(self.path / path for path in paths) for paths in own))

    def verdicts(self, written: WrittenRows, count: int) -> tuple[bool, ...]:
        """Which partitions may be published, in order; `count` rows were written."""
        crash_point("delta.files_written")
        with settings(self.whole.sparkSession, worth_compiling(count)):
            released = tuple(self.release(written))
        crash_point("delta.audited")
        return released

    def only(self, released: Sequence[bool]) -> "PartitionOverwrite":
        """The same of the partitions that were released."""
        return replace(self, partitions=[part for part, let in zip(self.partitions, released, strict=True) if let])

    def replaced(
        self,
        files: Sequence[LiveFile],
        version: int,
        rows: DataFrame,
        released: Sequence[bool],
        *,
        is_named_otherwise: bool = False,
    ) -> Replaced:
        """What to tell of an overwrite that wrote these files; they may have other names for the table's columns."""
        own = tuple(tuple(files_of(files, [text])) for text in self.texts)
        metrics = tuple(TableMetrics(version, rows_of(some), len(some), bytes_of(some)) for some in own)
        aside = tuple(() if let else _paths(some) for some, let in zip(own, released, strict=True))
        return Replaced(version, metrics, rows, tuple(released), aside, None if is_named_otherwise else own)


def _paths(files: Sequence[LiveFile]) -> tuple[str, ...]:
    return tuple(str(file.described["path"]) for file in files)

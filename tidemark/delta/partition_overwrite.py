"""The request and the result of an overwrite of partitions: write, audit, publish (A5).

Files are written and their rows judged. Only released partitions become the table's, in one commit.
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
    """The uncommitted files of an overwrite: `rows` reads them, with partition columns last.

    `files` are those of each partition on the local disk. None if they are elsewhere, or the columns have other names
    in files.
    """

    rows: DataFrame
    files: tuple[tuple[Path, ...], ...] | None = None


Release = Callable[[WrittenRows], Sequence[bool]]
"""Decides for each partition whether its files may become the table's."""


def always_allowed() -> None:
    """The permission of an overwrite that other writers cannot take over."""


def release_all(partitions: Sequence[Partition]) -> Release:
    """A Release that allows every partition without reading its rows."""
    return lambda _: [True] * len(partitions)


@dataclass(frozen=True)
class Replaced:
    """The result of an overwrite: the content of each partition, and all written `rows`, partition columns last.

    A refused partition is unchanged: its `metrics` are of the refused files, and `aside` has their paths in the table's
    folder. No version has them, and a vacuum deletes them. `version` is the commit's, or the table's if there was no
    commit (-1: no table). `files` are all files of each partition. It is None if these are unknown or the columns have
    other names in files.
    """

    version: int
    metrics: tuple[TableMetrics, ...]
    rows: DataFrame
    published: tuple[bool, ...]
    aside: tuple[tuple[str, ...], ...]
    files: tuple[tuple[LiveFile, ...], ...] | None = None


@dataclass(frozen=True)
class PartitionOverwrite:
    """`whole` is the content of all `partitions`, with their columns.

    Before a later commit on another writer's version, `still_allowed` is called. It raises if the commit is not
    allowed.
    """

    whole: DataFrame
    path: TableLocation
    partitions: Sequence[Partition]
    release: Release
    still_allowed: Callable[[], None]

    @property
    def columns(self) -> list[str]:
        """The partition columns; empty for a table that is one slice."""
        return list(self.partitions[0])

    @property
    def predicate(self) -> str | None:
        """The condition of the replaced rows; None for all rows."""
        if not self.columns:
            return None
        return any_partition_predicate(self.partitions)

    @property
    def texts(self) -> list[dict[str, str]]:
        """The partitions as in the log."""
        return [{name: str(value) for name, value in partition.items()} for partition in self.partitions]

    def written(self, rows: DataFrame, files: Sequence[LiveFile]) -> WrittenRows:
        """The content of these files, whose columns have the table's names."""
        if not isinstance(self.path, Path):
            return WrittenRows(rows)
        own = ([unquote(path) for path in _paths(files_of(files, [text]))] for text in self.texts)
        return WrittenRows(rows, tuple(tuple(self.path / path for path in paths) for paths in own))

    def verdicts(self, written: WrittenRows, count: int) -> tuple[bool, ...]:
        """Whether each partition may be published, in order. `count` is the number of written rows."""
        crash_point("delta.files_written")
        with settings(self.whole.sparkSession, worth_compiling(count)):
            released = tuple(self.release(written))
        crash_point("delta.audited")
        return released

    def only(self, released: Sequence[bool]) -> "PartitionOverwrite":
        """The overwrite of the released partitions only."""
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
        """The result of an overwrite with these files. `is_named_otherwise`: columns have other names in them."""
        own = tuple(tuple(files_of(files, [text])) for text in self.texts)
        metrics = tuple(TableMetrics(version, rows_of(some), len(some), bytes_of(some)) for some in own)
        aside = tuple(() if let else _paths(some) for some, let in zip(own, released, strict=True))
        return Replaced(version, metrics, rows, tuple(released), aside, None if is_named_otherwise else own)


def _paths(files: Sequence[LiveFile]) -> tuple[str, ...]:
    return tuple(str(file.described["path"]) for file in files)

"""Rows of the files that a version's checksum lists: Spark need not make the version's list of files out of the log.

Spark's own frame of a table looks for the newest version when it is made and each time that it is run, and reads every
commit since the last checkpoint in a job of its own, more than a small slice's query costs. A frame of listed files has
none of that, and stays at its version. It skips no file by bounds, so there may be few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from pyspark.sql import DataFrame

from tidemark.delta.internals.contract import DELTA, SPARK
from tidemark.delta.internals.scala_json import python_of
from tidemark.delta.live_file import LiveFile
from tidemark.delta.logged_partition import may_be_in
from tidemark.spark.internals import Jvm, java_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.system.table_location import TableLocation

_MOST_LISTED: Final = 300
"""So many files are looked through, at most: each is told to Python."""
_MOST_READ: Final = 16


@dataclass(frozen=True)
class ListedTable:
    """The newest version of a table as it was asked for; `files` are all of its files."""

    version: int
    files: Sequence[LiveFile]
    _spark: SparkSession
    _log: Any
    _snapshot: Any

    @classmethod
    def newest(cls, spark: SparkSession, path: TableLocation) -> Self | None:
        """None where there is no table, or where the checksum does not list its files, or lists too many."""
        jvm = Jvm(spark)
        jvm(f"{SPARK}.classic.SparkSession").setActiveSession(java_session(spark))
        none = jvm("scala.Option").empty()
        log = jvm(f"{DELTA}.DeltaLog").forTable(java_session(spark), str(path))
        snapshot = log.update(False, none, none)  # noqa: FBT003 - Scala's stalenessAcceptable
        checksum = snapshot.checksumOpt()
        listed = checksum.get().allFiles() if checksum.isDefined() else checksum
        if not listed.isDefined() or int(listed.get().size()) > _MOST_LISTED:
            return None
        handles = jvm("scala.jdk.javaapi.CollectionConverters").asJava(listed.get())
        files = [LiveFile(told, handles.get(at)) for at, told in enumerate(python_of(jvm, listed.get()))]
        return cls(int(snapshot.version()), files, spark, log, snapshot)

    def files_of(self, partitions: Sequence[Mapping[str, PartitionValue]] | None) -> list[LiveFile] | None:
        """At least the files of these partitions, by some or all partition columns; all where None.

        None where a name is no partition column, or one that files have another name for.
        """
        if partitions is None:
            return list(self.files)
        texts = [file.described["partitionValues"] for file in self.files]
        if any(name not in values for values in texts for partition in partitions for name in partition):
            return None
        return [file for file, values in zip(self.files, texts, strict=True) if may_be_in(values, partitions)]

    def rows(self, partitions: Sequence[Mapping[str, PartitionValue]] | None) -> DataFrame | None:
        """The rows of `files_of`; None where these are not known, or too many."""
        files = self.files_of(partitions)
        if files is None or len(files) > _MOST_READ:
            return None
        jvm = Jvm(self._spark)
        collected = jvm("java.util.ArrayList")()
        for file in files:
            collected.add(file.handle)
        chosen = jvm("scala.jdk.javaapi.CollectionConverters").asScala(collected).toSeq()
        none = jvm("scala.Option").empty()
        frame = self._log.createDataFrame(self._snapshot, chosen, False, none)  # noqa: FBT003 - Scala's isStreaming
        return DataFrame(frame, self._spark)

"""Reads rows of the files that a version's checksum lists, so that Spark does not build the list from the log.

Spark's own frame looks for the newest version when it is made and at each run, and reads the commits since the last
checkpoint in a job. That costs more than a small slice's query. A frame of listed files does none of this and stays at
its version. It does not skip files by bounds, so it is only for few files.
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
"""The most listed files, because each is passed to Python."""
_MOST_READ: Final = 16


@dataclass(frozen=True)
class ListedTable:
    """The newest version of a table at the time of opening; `files` are all of its files."""

    version: int
    files: Sequence[LiveFile]
    _spark: SparkSession
    _log: Any
    _snapshot: Any

    @classmethod
    def newest(cls, spark: SparkSession, path: TableLocation) -> Self | None:
        """The newest version; None if there is no table, or its checksum lists no files or too many."""
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
        """The files of these partitions (by some or all partition columns), and possibly others; all files if None.

        The result is None if a name is not a partition column, or files have another name for it.
        """
        if partitions is None:
            return list(self.files)
        texts = [file.described["partitionValues"] for file in self.files]
        if any(name not in values for values in texts for partition in partitions for name in partition):
            return None
        return [file for file, values in zip(self.files, texts, strict=True) if may_be_in(values, partitions)]

    def rows(self, partitions: Sequence[Mapping[str, PartitionValue]] | None) -> DataFrame | None:
        """The rows of `files_of`; None if these are unknown or too many."""
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

"""Rows of the files that a version's checksum lists: Spark need not make the version's list of files out of the log.

Spark's own frame of a table looks for the newest version when it is made and each time that it is run, and reads every
commit since the last checkpoint in a job of its own, more than a small slice's query costs. A frame of listed files has
none of that, and stays at its version. It skips no file by bounds, so there may be few.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame

from tidemark.delta.internals.contract import DELTA, SPARK
from tidemark.delta.internals.probe import has_private_interfaces
from tidemark.delta.internals.scala_json import python_of
from tidemark.spark.internals import Jvm, java_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.system.table_location import TableLocation

_MOST_LISTED: Final = 300
"""So many files are looked through, at most: each is told to Python."""
_MOST_READ: Final = 16


def listed_rows(
    spark: SparkSession, path: TableLocation, partitions: Sequence[Mapping[str, PartitionValue]] | None
) -> DataFrame | None:
    """At least the newest version's rows of these partitions, by some or all partition columns; all rows where None.

    None where the checksum does not list the files, or lists too many.
    """
    if not has_private_interfaces(spark):
        return None
    jvm = Jvm(spark)
    jvm(f"{SPARK}.classic.SparkSession").setActiveSession(java_session(spark))
    none = jvm("scala.Option").empty()
    log = jvm(f"{DELTA}.DeltaLog").forTable(java_session(spark), str(path))
    newest = log.update(False, none, none)  # noqa: FBT003 - Scala's stalenessAcceptable
    files = _listed(jvm, newest, partitions)
    if files is None:
        return None
    collected = jvm("java.util.ArrayList")()
    for file in files:
        collected.add(file)
    chosen = jvm("scala.jdk.javaapi.CollectionConverters").asScala(collected).toSeq()
    return DataFrame(log.createDataFrame(newest, chosen, False, none), spark)  # noqa: FBT003 - Scala's isStreaming


def _listed(jvm: Jvm, snapshot: Any, partitions: Sequence[Mapping[str, PartitionValue]] | None) -> list[Any] | None:
    """Delta's AddFiles that may have rows of these partitions."""
    checksum = snapshot.checksumOpt()
    listed = checksum.get().allFiles() if checksum.isDefined() else checksum
    if not listed.isDefined() or int(listed.get().size()) > _MOST_LISTED:
        return None
    files = jvm("scala.jdk.javaapi.CollectionConverters").asJava(listed.get())
    values = [file["partitionValues"] for file in python_of(jvm, listed.get())]
    if any(name not in texts for texts in values for partition in partitions or () for name in partition):
        return None  # no partition column, or one that files have another name for
    chosen = [files.get(at) for at, texts in enumerate(values) if partitions is None or may_be_in(texts, partitions)]
    return chosen if len(chosen) <= _MOST_READ else None


def may_be_in(texts: Mapping[str, str | None], partitions: Sequence[Mapping[str, PartitionValue]]) -> bool:
    """Whether a file, its partition given as the log writes it, may have rows of one of `partitions`.

    What other programs wrote in another form, as `07` for 7, is compared as what it means.
    """
    return any(all(_may_be(texts[name], value) for name, value in partition.items()) for partition in partitions)


def _may_be(text: str | None, value: PartitionValue) -> bool:
    if text is None or isinstance(value, str):
        return text == value
    try:
        return (int(text) if isinstance(value, int) else date.fromisoformat(text)) == value
    except ValueError:
        return True

"""What only Delta itself can tell a test: with it, its private interfaces stay in these two folders."""

from typing import Any

from pyspark.sql import SparkSession

from tidemark.delta.internals.contract import DELTA
from tidemark.spark.internals import Jvm, java_session
from tidemark.system.table_location import TableLocation


def forget_tables(spark: SparkSession) -> None:
    """What Delta holds of tables in memory is gone, as in a new process."""
    Jvm(spark)(f"{DELTA}.DeltaLog").clearCache()


def files_by_checksum_and_log(spark: SparkSession, path: TableLocation, version: int) -> tuple[Any, Any]:
    """AddFiles as the version's checksum lists them, and as the log adds up to; the checksum is validated."""
    jvm = Jvm(spark)
    none = jvm("scala.Option").empty()
    log = jvm(f"{DELTA}.DeltaLog").forTable(java_session(spark), str(path))
    snapshot = log.getSnapshotAt(version, none, none, False)  # noqa: FBT003 - Scala's parameter
    assert snapshot.validateChecksum(getattr(snapshot, "validateChecksum$default$1")())
    listed = snapshot.checksumOpt().get().allFiles().get()
    reconstructed = snapshot.allFilesViaStateReconstruction().collectAsList()
    return jvm("scala.jdk.javaapi.CollectionConverters").asJava(listed), reconstructed

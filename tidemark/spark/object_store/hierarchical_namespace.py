"""Whether an account of Azure's has a hierarchical namespace: without one a rename is a copy and a delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JJavaError

from tidemark.spark.internals import Jvm, hadoop_configuration
from tidemark.storage.errors import UnsafeStoreError, error_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.system.table_location import ObjectLocation

_ACCESS_LISTS: Final = "fs.capability.paths.acls"
"""What such accounts alone have; Hadoop asks the store once, when it opens it."""


def require_hierarchical_namespace(spark: SparkSession, lake: ObjectLocation) -> None:
    """Raises UnsafeStoreError where there is none, StorageRefusedError and StorageDownError."""
    path = Jvm(spark)("org.apache.hadoop.fs.Path")(str(lake))
    try:
        has_folders = path.getFileSystem(hadoop_configuration(spark)).hasPathCapability(path, _ACCESS_LISTS)
    except Py4JJavaError as error:
        raise error_of(str(lake), error) from None
    if not has_folders:
        raise UnsafeStoreError.without_folders(lake)

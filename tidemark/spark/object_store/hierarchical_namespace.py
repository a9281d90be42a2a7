"""Checks that an Azure account has a hierarchical namespace. Without one, a rename is a copy and a delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JJavaError

from tidemark.spark.internals import Jvm, hadoop_configuration
from tidemark.storage.errors import UnsafeStoreError, error_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.system.table_location import ObjectLocation

_ACCESS_LISTS: Final = "fs.capability.paths.acls"
"""A capability of such accounts only. Hadoop reads it once, when it opens the store."""


def require_hierarchical_namespace(spark: SparkSession, lake: ObjectLocation) -> None:
    """Raise UnsafeStoreError if there is none; also raises StorageRefusedError and StorageDownError."""
    path = Jvm(spark)("org.apache.hadoop.fs.Path")(str(lake))
    try:
        has_folders = path.getFileSystem(hadoop_configuration(spark)).hasPathCapability(path, _ACCESS_LISTS)
    except Py4JJavaError as error:
        raise error_of(str(lake), error) from None
    if not has_folders:
        raise UnsafeStoreError.without_folders(lake)

"""Symlink manifests: lists of data files with which Presto, Hive, Athena and others read a table like Hive's.

With a table property, Delta updates the manifests after every commit by its transactions, ours included. A manifest
cannot hide rows, so tables with deletion vectors have none.
"""

from delta import DeltaTable
from pyspark.sql import SparkSession

from tidemark.delta.errors import TableFeatureError
from tidemark.delta.file_statistics import file_statistics
from tidemark.quoting.spark import path_table, text_literal
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

PROPERTY = "delta.compatibility.symlinkFormatManifest.enabled"
FOLDER = "_symlink_format_manifest"


def keep_manifest(spark: SparkSession, path: TableLocation) -> None:
    """Write the table's manifests, and let every later commit update them.

    Raises NotADeltaTableError, and TableFeatureError for a table with deletion vectors.
    """
    if file_statistics(path).properties.get("delta.enableDeletionVectors") == "true":
        raise TableFeatureError.of(path, "deletion vectors", "a symlink manifest")
    spark.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ({text_literal(PROPERTY)} = 'true')")
    DeltaTable.forPath(spark, str(path)).generate("symlink_format_manifest")


def manifest_files(path: TableLocation) -> dict[str, tuple[str, ...]]:
    """Partition folder (`dt=2026-03-23`, empty without partitions) -> its data files, as an engine reads them."""
    manifests, table = stored_files(path / FOLDER), stored_files(path)
    names = sorted(file.name for file in manifests.walk() if file.name.rpartition("/")[2] == "manifest")
    return {
        name.rpartition("/")[0]: tuple(f"{path}/{table.name_of(uri)}" for uri in manifests.read(name).decode().split())
        for name in names
    }

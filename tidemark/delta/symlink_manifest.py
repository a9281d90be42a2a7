"""Symlink manifests: lists of data files by which Presto, Hive, Athena and others read a table as if it were Hive's.

A table that asks for it, by a property of its own, has them kept current with each commit: Delta does that after every
commit that goes through its transactions, ours included. A manifest cannot say which rows are hidden, so that a table
with deletion vectors has none.
"""

from pathlib import Path
from urllib.parse import unquote, urlparse

from delta import DeltaTable
from pyspark.sql import SparkSession

from tidemark.delta.errors import TableFeatureError
from tidemark.delta.file_statistics import file_statistics
from tidemark.quoting.spark import path_table, text_literal

PROPERTY = "delta.compatibility.symlinkFormatManifest.enabled"
FOLDER = "_symlink_format_manifest"


def keep_manifest(spark: SparkSession, path: Path) -> None:
    """Write the table's manifests, and have them written with every commit from now on.

    Raises NotADeltaTableError, and TableFeatureError for a table with deletion vectors.
    """
    if file_statistics(path).properties.get("delta.enableDeletionVectors") == "true":
        raise TableFeatureError.of(path, "deletion vectors", "a symlink manifest")
    spark.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ({text_literal(PROPERTY)} = 'true')")
    DeltaTable.forPath(spark, str(path)).generate("symlink_format_manifest")


def manifest_files(path: Path) -> dict[str, tuple[Path, ...]]:
    """Partition folder (`dt=2026-03-23`, empty for a table without) -> its data files, as an engine reads them."""
    root = path / FOLDER
    return {
        manifest.parent.relative_to(root).as_posix().removeprefix("."): tuple(
            Path(unquote(urlparse(line).path)) for line in manifest.read_text(encoding="utf-8").split()
        )
        for manifest in sorted(root.rglob("manifest"))
    }

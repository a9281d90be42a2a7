"""The late changes of a table whose snapshots are restated, kept beside it: a Delta table of rows as they came.

A version cannot be changed and Delta has no branches. So a restated snapshot is its version and the late changes that
belong to it (late.snapshot); these are kept here once, however many snapshots they belong to.

They are written before the commit that merges them and carry its number. A process that dies between the two leaves
rows of a commit that is not there: no tag refers to them, and the next step removes them first.
"""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.heartbeat.slow_clock import Spans
from tidemark.capture.schema.column_names import META_COLUMNS
from tidemark.capture.schema.table_evolution import ensure_table
from tidemark.capture.snapshots.late.late_minutes import is_dated
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.widen_columns import widen_columns
from tidemark.system.crash_points import crash_point

FOLDER = "_late_changes"

_OWN_TYPES = {"_op": "STRING", "_row": "INT", "_batch": "INT", "_event_ms": "BIGINT", "_tagged_ms": "BIGINT"}
"""Beside the lake's columns: `_batch` is the number of the table's commit, `_tagged_ms` the end (epoch ms) of the
newest slice that was tagged before it."""


def late_path(warehouse: Path, table: str) -> Path:
    """Where the late changes of a captured table are, if it has any."""
    return warehouse / FOLDER / table


class LateChanges:
    """Those of one table, in a session of its user's own."""

    def __init__(self, spark: SparkSession, warehouse: Path, table: str) -> None:
        self._spark = spark
        self._path = late_path(warehouse, table)

    def keep(
        self, rows: DataFrame, columns: Mapping[str, str], batch: int, tagged_ms: int, slow: Mapping[str, Spans]
    ) -> None:
        """Write the late ones among a commit's changes (`changes.table_changes`), in one commit of their own.

        `columns` are the lake's, name -> type.

        The same commit may be tried again: what an earlier attempt wrote is replaced.
        """
        # Its own columns first: Delta keeps bounds of the first 32, and `forget_after` looks at those of `_batch`.
        names = [*_OWN_TYPES, *columns, *META_COLUMNS]
        ensure_table(self._spark, MergeTarget(self._path, names, (), "_offset", None, None), {**_OWN_TYPES, **columns})
        told = {
            "_row": sf.col("_row").cast("int"),
            "_batch": sf.lit(batch),
            "_tagged_ms": sf.lit(tagged_ms).cast("bigint"),
        }
        late = rows.where("_late AND NOT _bad").where(is_dated(slow)).withColumns(told).select(*names)
        written = late.coalesce(1).write.format("delta").mode("overwrite")
        written.option("replaceWhere", f"_batch >= {batch}").save(str(self._path))
        crash_point("late_changes.stored")

    def widen(self, wider: Mapping[str, tuple[str, str]], batch: int) -> None:
        """Give columns the types that the table's get with its commit `batch` (delta.widen)."""
        if table_exists(self._path):
            widen_columns(self._spark, self._path, wider, Transaction(FOLDER, batch, ""))

    def forget_after(self, batch: int) -> None:
        """Remove what was written for commits after `batch` that were never made."""
        if not table_exists(self._path):
            return
        table = DeltaTable(str(self._path))
        files = pa.table(table.get_add_actions(flatten=True))
        newest = pc.max(files["max._batch"]).as_py() if files.num_rows else None
        if newest is not None and newest > batch:
            table.delete(f"_batch > {batch}")

"""Turn by turn, every way merges the same changes into its own copy of one table."""

from __future__ import annotations

import functools
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.merge.table import built, copied
from benchmarks.merge.ways import target
from benchmarks.timing import Timer
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.delta.merge_report import MergeReport
from tidemark.quoting.spark import path_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from benchmarks.merge.batches import Changes
    from benchmarks.merge.table import TableShape
    from benchmarks.merge.ways import Way


@dataclass
class Rounds:
    """`warm` turns, then `repeat` turns that count; `spark` is a session of this thread's own."""

    spark: SparkSession
    folder: Path
    warm: int
    repeat: int
    number: int = 0

    def turns(
        self,
        shape: TableShape,
        batch_of: Callable[[SparkSession, TableShape, int], Changes],
        ways: Mapping[str, Way],
        *,
        vectors: bool = False,
    ) -> dict[str, Any]:
        """Medians by way, and what ours read and wrote; raises unless all ways made the same table."""
        source = built(self.folder, shape)
        paths = {way: self._copy(source, way, vectors=vectors) for way in ways}
        timers = {way: Timer(self.warm) for way in ways}
        figures: dict[str, Any] = {"rows": shape.rows, "files": table_metrics(source).files}
        for turn in range(1, self.warm + self.repeat + 1):
            changes = batch_of(self.spark, shape, turn)
            for way, merge in ways.items():
                self.number += 1
                transaction = Transaction(way, self.number, "{}")
                call = functools.partial(merge, changes.rows, target(paths[way]), changes.partitions, transaction)
                figures |= _told(timers[way].run(call))
            changes.rows.unpersist()
        assert len({_content(self.spark, path, shape) for path in paths.values()}) == 1, "the ways differ"
        for way, timer in timers.items():
            figures |= timer.figures(way)
            shutil.rmtree(paths[way])
        return figures

    def _copy(self, source: Path, way: str, *, vectors: bool) -> Path:
        # A folder of its own each time: Delta remembers the log of a path.
        self.number += 1
        path = copied(source, self.folder / f"{way}_{self.number}")
        if vectors:
            table = path_table(path)
            self.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
        return path


def _told(report: object) -> dict[str, Any]:
    if not isinstance(report, MergeReport):
        return {}
    changed = max(1, report.inserted + report.updated + report.deleted)
    return {
        "files_read": report.files_read,
        "bytes_read": report.bytes_read,
        "files_rewritten": report.files_removed,
        "bytes_rewritten": report.bytes_removed,
        "rows_rewritten_per_change": round(report.rows_copied / changed, 2),
        "strategies": sorted({str(decision.strategy) for decision in report.decisions}),
    }


def _content(spark: SparkSession, path: Path, shape: TableShape) -> tuple[Any, ...]:
    """Rows of the two days that are touched, as numbers."""
    row = spark.sql(
        "SELECT count(*), sum(id), sum(_offset), sum(amount), count(DISTINCT id), sum(hash(dt, note)) "  # noqa: S608
        f"FROM {path_table(path)} WHERE dt >= DATE'{shape.day(1)}'"
    ).first()
    return tuple(row or ())

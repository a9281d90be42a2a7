"""Repairing one partition of a table that went on: metadata only, by rewriting it, and by going back and forth again.

One day of the table is spoilt in version 1; then come --later batches of five minutes. Each way makes that day what it
was and leaves everything else as it is, in a copy of that table, turn by turn in one warm process, and all have to make
the same rows; seconds are medians, bytes are those of all files that came into the table's folder, the log's included.

    metadata_*     ours: the old files are put back
    rewrite_*      ours where the old files would not do: read from the old version and written again
    overwrite_*    Spark's own overwrite of the partition (replaceWhere) from the old version
    replay_*       the table is restored to version 0 and every later batch merged again, as seed 001 had to
    written_ratio  bytes written by the replay / by ours
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sf

from benchmarks.merge.batches import five_minutes
from benchmarks.merge.table import TableShape, built, copied
from benchmarks.merge.ways import target
from benchmarks.timing import Timer
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.merge import merge_changes
from tidemark.delta.repair import repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.quoting.spark import path_table
from tidemark.spark.session import spark_session
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    import argparse

    from pyspark.sql import SparkSession

SPOILT = 2
"""So many days before the last one."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--day-rows", type=int, default=166_666, help="rows of a partition, in ten files")
    parser.add_argument("--batch", type=int, default=20_000, help="changes of a batch of five minutes")
    parser.add_argument("--later", type=int, default=10, help="batches after the day was spoilt")
    parser.add_argument("--repeat", type=int, default=5, help="turns that count")
    parser.add_argument("--warm", type=int, default=1, help="turns before them")
    parser.add_argument("--folder", type=Path, help="where tables are made, and kept (default: a passing folder)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        spark = spark_session(Settings.at(Path(folder), spark_memory="4g")).newSession()
        days = max(SPOILT + 1, arguments.rows // arguments.day_rows)
        shape = TableShape(days, arguments.day_rows, 10, arguments.batch)
        bench = Bench(spark, Path(folder), shape, arguments.later)
        return bench.turns(arguments.warm, arguments.repeat)


class Bench:
    """The spoilt table, and the ways to repair it."""

    def __init__(self, spark: SparkSession, folder: Path, shape: TableShape, later: int) -> None:
        self.spark, self.folder, self.shape, self.later = spark, folder, shape, later
        self.day, self.copies = shape.day(SPOILT), 0
        self.spoilt = self._spoilt()
        self.ways = {
            "metadata": self._metadata,
            "rewrite": self._rewrite,
            "overwrite": self._overwrite,
            "replay": self._replay,
        }

    def turns(self, warm: int, repeat: int) -> dict[str, Any]:
        """Medians and bytes by way."""
        timers = {way: Timer(warm) for way in self.ways}
        figures: dict[str, Any] = {"rows": self.shape.rows, "later_versions": self.later}
        for _ in range(warm + repeat):
            contents = set()
            for way, repair in self.ways.items():
                path = self._copy(way)
                before = _files(path)
                timers[way].run(functools.partial(repair, path))
                figures[f"{way}_bytes_written"] = sum(size for name, size in _files(path).items() if name not in before)
                contents.add(self._content(path))
                shutil.rmtree(path)
            assert len(contents) == 1, "the ways differ"
        for way, timer in timers.items():
            figures |= timer.figures(way)
        ratio = figures["replay_bytes_written"] / figures["metadata_bytes_written"]
        return {**figures, "written_ratio": round(ratio, 1)}

    def _spoilt(self) -> Path:
        path = copied(built(self.folder, self.shape), self.folder / "spoilt")
        name = path_table(path)
        wrong = self.spark.table(name).where(f"dt = DATE'{self.day}'").withColumn("note", sf.lit("wrong"))
        writer = wrong.write.format("delta").mode("overwrite").option("replaceWhere", f"dt = DATE'{self.day}'")
        writer.save(str(path))
        self._later(path, "first")
        return path

    def _later(self, path: Path, app: str) -> None:
        for turn in range(1, self.later + 1):
            changes = five_minutes(self.spark, self.shape, turn)
            merge_changes(changes.rows, target(path), changes.partitions, Transaction(app, turn, "{}"))

    def _copy(self, way: str) -> Path:
        # A folder of its own each time: Delta remembers the log of a path.
        self.copies += 1
        path = copied(self.spoilt, self.folder / f"{way}_{self.copies}")
        if way == "rewrite":  # a rule that came since: the old files were never held to it
            self.spark.sql(f"ALTER TABLE {path_table(path)} ADD CONSTRAINT positive CHECK (id >= 0)")
        return path

    def _metadata(self, path: Path) -> None:
        plan = plan_repair(self.spark, path, {"dt": self.day}, 0)
        assert repair_partition(self.spark, plan, Database.at(self.folder / "state.db")).plan.way == "metadata"

    def _rewrite(self, path: Path) -> None:
        plan = plan_repair(self.spark, path, {"dt": self.day}, 0)
        assert repair_partition(self.spark, plan, Database.at(self.folder / "state.db")).plan.way == "rewrite"

    def _overwrite(self, path: Path) -> None:
        inside = f"dt = DATE'{self.day}'"
        old = read_table(self.spark, path, 0).where(inside)
        old.write.format("delta").mode("overwrite").option("replaceWhere", inside).save(str(path))

    def _replay(self, path: Path) -> None:
        self.spark.sql(f"RESTORE TABLE {path_table(path)} TO VERSION AS OF 0")
        self._later(path, "again")

    def _content(self, path: Path) -> tuple[Any, ...]:
        row = self.spark.sql(
            "SELECT count(*), sum(id), sum(_offset), sum(amount), sum(hash(dt, note)) "  # noqa: S608
            f"FROM {path_table(path)} WHERE dt >= DATE'{self.day}'"
        ).first()
        return tuple(row or ())


def _files(path: Path) -> dict[Path, int]:
    return {file: file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.name.endswith(".crc")}

"""Random tables of random types, and what random other writers do to them; without Spark where Spark is not needed.

`python -m tests.delta.clustering.random_tables COUNT FIRST` tries so many seeds and says what was compared.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from delta import DeltaTable as SparkTable
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from tests.lake_folder import table_of_others
from tidemark.delta.clustering import rewrite
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.clustering.report import ClusterReport
from tidemark.delta.commit_conflict import BackOff
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.open_table import delta_rs_options
from tidemark.quoting.spark import path_table
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

Value = Callable[[random.Random], object]

TYPES: dict[str, tuple[pa.DataType, Value]] = {
    "i": (pa.int32(), lambda r: r.choice([r.randrange(5), r.randrange(-(2**31), 2**31)])),
    "l": (pa.int64(), lambda r: r.choice([0, 2**62, -(2**63), r.randrange(100)])),
    "d": (pa.float64(), lambda r: r.choice([float("nan"), float("-inf"), -0.0, 0.0, r.random()])),
    "m": (pa.decimal128(20, 4), lambda r: Decimal(r.randrange(-(10**6), 10**6)) / 10_000),
    "s": (pa.string(), lambda r: r.choice(["", "ä\n'\\", "x" * 40 + str(r.randrange(50)), str(r.random())])),
    "t": (pa.timestamp("us", tz="UTC"), lambda r: datetime(1969, 12, 31, tzinfo=UTC) + timedelta(days=r.random() * 99)),
    "e": (pa.date32(), lambda r: date(2026, 1, 1) + timedelta(days=r.randrange(40))),
    "b": (pa.bool_(), lambda r: r.random() < 0.5),
}
_UNORDERED = ("b",)


@dataclass(frozen=True)
class RandomShape:
    """A random table's columns (name -> kind of TYPES), its partition column and how many values are NULL."""

    columns: dict[str, str]
    partition: str | None
    nulls: float

    @classmethod
    def of(cls, chance: random.Random) -> "RandomShape":
        columns = {f"c-{at}": chance.choice(list(TYPES)) for at in range(chance.randint(1, 6))}
        columns["c-0"] = chance.choice([kind for kind in TYPES if kind not in _UNORDERED])
        return cls(columns, chance.choice([None, "part"]), chance.choice([0.0, 0.1, 0.9]))

    def rows(self, chance: random.Random, count: int) -> pa.Table:
        arrays = {"id": pa.array([chance.randrange(10**6) for _ in range(count)], pa.int64())}
        for name, kind in self.columns.items():
            arrow, value = TYPES[kind]
            arrays[name] = pa.array(
                [None if chance.random() < self.nulls else value(chance) for _ in range(count)], arrow
            )
        if self.partition:
            arrays[self.partition] = pa.array([chance.choice(["a", "b c", None]) for _ in range(count)], pa.string())
        return pa.table(arrays)

    def clustering(self, chance: random.Random, size: int) -> Clustering:
        keys = ["id", *(name for name, kind in self.columns.items() if kind not in _UNORDERED)]
        chosen = chance.sample(keys, min(len(keys), chance.randint(1, 4)))
        weights = {name: chance.choice([1.0, 1.0, 5.0]) for name in chosen}
        return Clustering(weights, max(1, size // chance.choice([1, 3, 8, 20])))


def content(path: TableLocation, version: int) -> list[str]:
    return sorted(map(str, read_rows(path, version).to_pylist()))


@dataclass(frozen=True)
class RandomTable:
    """One table and who writes to it."""

    spark: SparkSession
    path: TableLocation
    shape: RandomShape
    chance: random.Random
    hides: bool

    @classmethod
    def of(cls, spark: SparkSession, path: TableLocation, seed: int) -> "RandomTable":
        chance = random.Random(seed)
        shape = RandomShape.of(chance)
        for _ in range(chance.randint(1, 4)):
            rows = shape.rows(chance, chance.choice([0, 1, 40, 200]))
            by, options = [shape.partition] if shape.partition else None, delta_rs_options(path)
            write_deltalake(str(path), rows, mode="append", partition_by=by, storage_options=options)
        hides = chance.random() < 0.3
        if hides:
            spark.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
        return cls(spark, path, shape, chance, hides)

    def disturb(self) -> None:
        """What another writer does: nothing, an append, a delete."""
        kind = self.chance.choice(["nothing", "append", "delete", "delete"])
        if kind == "append" and not self.hides:
            rows, options = self.shape.rows(self.chance, 20), delta_rs_options(self.path)
            write_deltalake(str(self.path), rows, mode="append", storage_options=options)
        elif kind == "delete":
            condition = f"id % {self.chance.randint(3, 300)} = 0"
            if self.hides:
                SparkTable.forPath(self.spark, str(self.path)).delete(condition)
            else:
                table_of_others(self.path).delete(condition)

    def clustered(self) -> ClusterReport:
        size = sum(file.size_bytes for file in stored_files(self.path).walk() if file.name.endswith(".parquet"))
        return cluster_table(
            self.spark,
            self.path,
            self.shape.clustering(self.chance, size),
            only=self.chance.choice(["all", "new"]),
            back_off=BackOff(attempts=20, sleep=lambda _: None),
        )


def try_once(spark: SparkSession, folder: TableLocation, seed: int, steps: int = 2) -> Counter[str]:
    """Cluster a random table while others write: its versions have the content of those before them.

    Returns how much was compared.
    """
    world = RandomTable.of(spark, folder / f"t{seed}", seed)
    seen: Counter[str] = Counter(tables=1)

    def disturb_at(point: str) -> None:
        if point == "cluster.written":
            world.disturb()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewrite, "crash_point", disturb_at)
        for _ in range(steps):
            world.disturb()
            report = world.clustered()
            for version in report.versions:
                assert content(world.path, version) == content(world.path, version - 1), f"seed {seed}"
            seen.update(passes=1, commits=len(report.versions), voided=report.again, rows=report.rows)
    return seen


def main(count: int, first: int) -> None:
    from tidemark.spark.session import spark_session
    from tidemark.system.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        spark, seen = spark_session(Settings.at(Path(folder))), Counter[str]()
        for seed in range(first, first + count):
            seen.update(try_once(spark, Path(folder), seed))
        spark.stop()
    print(dict(seen))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

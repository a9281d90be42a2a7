"""Random lives of a small Delta table beside a list of rows that lives the same life."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from delta import DeltaTable

from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.errors import KeyNotUniqueError, VersionGoneError
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.repair import repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.retention import Claim, Retention
from tidemark.delta.vacuum import vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.system.table_location import TableLocation

PARTS = ("x", "y", "z")
SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"
Row = tuple[int, str | None, str, int]


@dataclass
class WriterSchedule:
    """`rows` is the model, `past` what it was at each version, `tagged` the versions that VACUUM has to leave alone."""

    spark: SparkSession
    folder: TableLocation
    state: Path
    seed: int
    has_vectors: bool
    rows: list[Row] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    past: dict[int, list[Row]] = field(default_factory=dict)
    tagged: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._offset = 0
        self._next_key = 1000
        self._number = 0
        self.path = self.folder / f"t{self.seed}"
        self.target = MergeTarget(self.path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
        vectors = str(self.has_vectors).lower()
        self.spark.sql(
            f"CREATE TABLE {path_table(self.path)} ({SCHEMA}) USING delta PARTITIONED BY (part) "
            f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')"
        )
        self.past[0] = []

    def live(self, steps: int) -> None:
        """Do `steps` random things, each to the table and to the model, and compare after each."""
        kinds: dict[Callable[[], None], int] = {
            self.merge: 6,
            self.append: 2,
            self.delete: 1,
            self.vacuum: 1,
            self.vacuum_all: 1,
            self.name: 1,
            self.repair: 3,
            self.recompute: 1,
        }
        for _ in range(steps):
            step = self._random.choices(list(kinds), list(kinds.values()))[0]
            self.done.append(step.__name__)
            step()
            rows = Counter(tuple(row) for row in read_table(self.spark, self.path).collect())
            assert rows == Counter(self.rows), (self.seed, self.done)
            self.past[current_version(self.path) or 0] = list(self.rows)
        self.check_names()

    def check_names(self) -> None:
        """Every tagged version is what it was."""
        for version in sorted(self.tagged):
            rows = Counter(tuple(row) for row in read_table(self.spark, self.path, version).collect())
            assert rows == Counter(self.past[version]), (self.seed, self.done, version)

    def merge(self) -> None:
        """A batch over keys old and new; some of it moves, goes, repeats a key, or comes from the past."""
        changes = [self._change() for _ in range(self._random.randrange(1, 8))]
        newest = {key: max((c for c in changes if c[1] == key), key=lambda c: c[4]) for key in {c[1] for c in changes}}
        met = Counter(row[0] for row in self.rows if row[0] in newest)
        known = {row[1] for row in self.rows if row[0] in newest} | {change[2] for change in changes}
        partitions = frozenset(known) if self._random.random() < 0.7 else None
        frame = self.spark.createDataFrame(changes, f"_op STRING, {SCHEMA}").localCheckpoint()
        self._number += 1
        before = current_version(self.path)
        transaction = Transaction("schedule", self._number, "{}")
        try:
            merge_changes(frame, self.target, partitions, transaction)
        except KeyNotUniqueError:
            assert max(met.values()) > 1, (self.seed, self.done)
            assert current_version(self.path) == before
            return
        assert max(met.values(), default=0) <= 1, (self.seed, self.done)
        self.rows = merge_slowly(self.rows, list(newest.values()))
        assert merge_changes(frame, self.target, partitions, transaction).replayed

    def _change(self) -> tuple[str, int, str | None, str, int]:
        self._offset += 1
        keys = [row[0] for row in self.rows]
        key = self._random.choice(keys) if keys and self._random.random() < 0.5 else self._random.randrange(30)
        offset = self._offset - self._random.choice([0, 0, 0, 5]) if self._offset > 5 else self._offset
        offset = offset * 100 + self._offset % 100
        part = self._random.choice([*PARTS, None])
        return self._random.choice("cuud"), key, part, f"v{self._offset}", offset

    def append(self) -> None:
        """Rows of another writer, with keys of their own."""
        count = self._random.randrange(1, 6)
        new: list[Row] = [
            (self._next_key + number, self._random.choice([*PARTS, None]), "appended", 0) for number in range(count)
        ]
        self._next_key += count
        frame = self.spark.createDataFrame(new, SCHEMA)
        frame.write.format("delta").mode("append").save(str(self.path))
        self.rows += new

    def delete(self) -> None:
        """A DELETE of another writer."""
        part, rest = self._random.choice(PARTS), self._random.randrange(2)
        DeltaTable.forPath(self.spark, str(self.path)).delete(f"part = '{part}' AND id % 2 = {rest}")
        self.rows = [row for row in self.rows if not (row[1] == part and row[0] % 2 == rest)]

    def name(self) -> None:
        """A version that is to stay."""
        self.tagged.add(current_version(self.path) or 0)

    def vacuum(self) -> None:
        """Files of older versions go, those of tagged ones stay."""
        claims = [Claim(version, "tagged") for version in self.tagged]
        retention = Retention(self._random.randrange(1, 4), timedelta(0))
        now = datetime.now(UTC) + timedelta(days=2)
        kept = {
            kept.version
            for kept in vacuum(self.path, retention, claims, Database.at(self.state / "state.db"), now).kept
        }
        assert self.tagged <= kept, (self.seed, self.done)

    def vacuum_all(self) -> None:
        """Delta's own VACUUM, which knows of no names."""
        if not self.tagged:
            self.spark.sql(f"VACUUM {path_table(self.path)} RETAIN 0 HOURS")

    def repair(self) -> None:
        """One partition from any version that there was."""
        part, version = self._random.choice(PARTS), self._random.choice(list(self.past))
        before = current_version(self.path)
        try:
            plan = plan_repair(self.spark, self.path, {"part": part}, version)
        except VersionGoneError:
            assert {"vacuum", "vacuum_all"} & set(self.done), (self.seed, self.done)
            assert version not in self.tagged, (self.seed, self.done)
            assert current_version(self.path) == before
            return
        report = repair_partition(self.spark, plan, Database.at(self.state / "state.db"))
        others = [row for row in self.rows if row[1] != part]
        self.rows = others + [row for row in self.past[version] if row[1] == part]
        assert plan.rows_then == report.rows == len(self.rows) - len(others), (self.seed, self.done)

    def recompute(self) -> None:
        """One partition from rows that are given, by a repair or by the writer of slices."""
        part = self._random.choice(PARTS)
        new: list[Row] = [(self._next_key + at, part, "computed", 0) for at in range(self._random.randrange(4))]
        self._next_key += len(new)
        frame = self.spark.createDataFrame(new, SCHEMA).drop("part")
        if self._random.random() < 0.5:
            plan = plan_repair(self.spark, self.path, {"part": part}, None)
            assert repair_partition(self.spark, plan, Database.at(self.state / "state.db"), frame).rows == len(new)
        else:
            replace_partition(frame, self.path, {"part": part})
        self.rows = [row for row in self.rows if row[1] != part] + new


def merge_slowly(rows: list[Row], changes: list[tuple[str, int, str | None, str, int]]) -> list[Row]:
    """The slow, obvious merge."""
    result = {row[0]: row for row in rows}
    others = [row for row in rows if result[row[0]] is not row]
    for op, key, part, value, offset in changes:
        if key in result and result[key][3] >= offset:
            continue
        result.pop(key, None)
        if op != "d":
            result[key] = (key, part, value, offset)
    return [*result.values(), *others]

"""Random lives of a small Delta table beside a list of rows that lives the same life."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from delta import DeltaTable

from resources.delta.errors import KeyNotUniqueError
from resources.delta.identifiers import path_table
from resources.delta.merge import merge_changes
from resources.delta.table import current_version, read_table
from resources.delta.target import MergeTarget
from resources.delta.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

PARTS = ("x", "y", "z")
SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"
Row = tuple[int, str | None, str, int]


@dataclass
class Schedule:
    """`rows` is the model."""

    spark: SparkSession
    folder: Path
    seed: int
    has_vectors: bool
    rows: list[Row] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

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

    def live(self, steps: int) -> None:
        """Do `steps` random things, each to the table and to the model, and compare after each."""
        kinds: dict[Callable[[], None], int] = {
            self.merge: 6,
            self.append: 2,
            self.delete: 1,
            self.vacuum: 1,
        }
        for _ in range(steps):
            step = self._random.choices(list(kinds), list(kinds.values()))[0]
            self.done.append(step.__name__)
            step()
            found = Counter(tuple(row) for row in read_table(self.spark, self.path).collect())
            assert found == Counter(self.rows), (self.seed, self.done)

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
        self.rows = merged(self.rows, list(newest.values()))
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

    def vacuum(self) -> None:
        """Files of older versions go."""
        self.spark.sql(f"VACUUM {path_table(self.path)} RETAIN 0 HOURS")


def merged(rows: list[Row], changes: list[tuple[str, int, str | None, str, int]]) -> list[Row]:
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

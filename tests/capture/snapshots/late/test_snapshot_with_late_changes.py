"""The rows of a restated snapshot, against a model that plays every change back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tidemark.capture.snapshots.late.snapshot_with_late_changes import with_late_changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KEYS, SHARDS = 3, 60
ENDS = (100, 200)


class Late(NamedTuple):
    """A late change as it is kept; a shard is a case of its own."""

    shard: str
    key: int
    op: str
    note: str
    offset: int
    row: int
    batch: int
    event_ms: int
    tagged_ms: int
    later_column: str | None


def drawn(seed: int) -> tuple[dict[tuple[str, int], str], list[Late]]:
    """The version's rows, and late changes of up to 5 commits, in the order of each shard's binlog."""
    chance = random.Random(seed)
    version = {(f"a.s_{n}", key): "v" for n in range(SHARDS) for key in range(KEYS) if chance.random() < 0.6}
    late = []
    for number in range(SHARDS):
        for place in range(chance.randrange(7)):
            tagged = chance.choice(ENDS)
            batch = 1 + place * 5 // 7
            change = (
                chance.choice("cudd"),
                f"l{place}",
                place // 2,
                place % 2,
                batch,
                chance.randrange(tagged),
                tagged,
            )
            late.append(Late(f"a.s_{number}", chance.randrange(KEYS), *change, "new"))
    return version, late


def modelled(
    version: dict[tuple[str, int], str], late: list[Late], end_ms: int, batch: int
) -> dict[tuple[str, int], str]:
    rows = dict(version)
    for change in late:
        if change.batch <= batch and change.event_ms < end_ms <= change.tagged_ms:
            rows.pop((change.shard, change.key), None)
            if change.op != "d":
                rows[change.shard, change.key] = change.note
    return rows


def frames(spark: SparkSession, version: dict[tuple[str, int], str], late: list[Late]) -> tuple[DataFrame, DataFrame]:
    rows = [(shard, key, note, "old") for (shard, key), note in version.items()]
    names = "_shard STRING, id INT, _op STRING, note STRING, _offset BIGINT, _row INT, _batch INT, _event_ms BIGINT"
    kept = spark.createDataFrame(random.Random(0).sample(late, len(late)), f"{names}, _tagged_ms BIGINT, came STRING")
    return spark.createDataFrame(rows, "_shard STRING, id INT, note STRING, dropped STRING"), kept


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 8))])
def test_late_changes_are_on_top_of_the_version_in_their_order(spark: SparkSession, seed: int) -> None:
    version, late = drawn(seed)
    there, kept = frames(spark, version, late)
    for end_ms, batch in ((100, 5), (200, 2), (200, 5)):
        merged = with_late_changes(there, kept, ("_shard", "id"), end_ms, batch)
        assert merged.columns == ["_shard", "id", "note", "dropped"]
        rows = merged.collect()
        assert {(row["_shard"], row["id"]): row["note"] for row in rows} == modelled(version, late, end_ms, batch)
        assert len(rows) == len({row[:2] for row in rows})
        assert all(row["dropped"] == ("old" if row["note"] == "v" else None) for row in rows)

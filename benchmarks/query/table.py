"""Two keys that readers ask by, in no order, and a measure: 13 bytes a row, so that 50 million are made in minutes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from benchmarks.cluster.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

# Values of each key are drawn evenly from 0 up to here, whatever the number of rows.
KEYS: Final[Mapping[str, int]] = {"user_id": 5_000_000, "lesson_id": 1_000_000}
BASE_FILES: Final = 64
KINDS: Final = (*(f"point {name}" for name in KEYS), "box")
_BOX: Final = 0.01


def rows(spark: SparkSession, count: int, seed: int, files: int) -> DataFrame:
    """`count` rows in `files` partitions."""
    keys = [f"CAST(rand({seed + at}) * {most} AS INT) AS {name}" for at, (name, most) in enumerate(KEYS.items())]
    measure = f"CAST(rand({seed + len(KEYS)}) * 180 AS SMALLINT) AS minutes"
    return spark.range(0, count, 1, files).selectExpr(*keys, "CAST(id AS INT) AS id", measure)


def built(spark: SparkSession, folder: Path, count: int, seed: int) -> Path:
    """The unclustered table below `folder`, made unless it is there."""
    path = folder / f"unclustered_{count}"
    if not (path / "_delta_log").exists():
        rows(spark, count, seed, BASE_FILES).write.format("delta").save(str(path))
    return path


def selective_filters(count: int, seed: int) -> list[Filter]:
    """As many points on each key as boxes of one per cent of each."""
    chance = random.Random(seed)
    return [_filter(KINDS[number % len(KINDS)], chance) for number in range(count)]


def _filter(kind: str, chance: random.Random) -> Filter:
    _, _, key = kind.partition(" ")
    width = 0.0 if key else _BOX
    return Filter(kind, {name: _span(KEYS[name], width, chance) for name in ([key] if key else KEYS)})


def _span(most: int, width: float, chance: random.Random) -> tuple[Any, Any]:
    steps = int(most * width)
    first = chance.randrange(most - steps)
    return pa.scalar(first, pa.int32()), pa.scalar(first + steps, pa.int32())


def sql_of(wanted: Filter) -> str:
    """The filter as every engine reads it."""
    return " AND ".join(f"{name} >= {low} AND {name} <= {high}" for name, (low, high) in wanted.bounds.items())

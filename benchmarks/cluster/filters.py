"""Filters as readers write them - points, ranges, boxes - and what they read of a layout, by the log's bounds alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_RANGE, _BOX = 0.05, 0.1


@dataclass(frozen=True)
class Filter:
    """All of `bounds` (column -> lowest, highest) hold; `kind` is `point key1`, `range key2`, `box`, ..."""

    kind: str
    bounds: Mapping[str, tuple[Any, Any]]


def random_filters(values: Mapping[str, pa.Array], count: int, seed: int) -> list[Filter]:
    """`count` filters over columns' distinct values (sorted): as many points and ranges a column, and boxes."""
    chance = random.Random(seed)
    columns = list(values)
    kinds = [f"{kind} {column}" for column in columns for kind in ("point", "range")] + ["box"]
    filters = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        word, _, column = kind.partition(" ")
        width = {"point": 0.0, "range": _RANGE, "box": _BOX}[word]
        chosen = [column] if column else columns
        filters.append(Filter(kind, {name: _span(values[name], width, chance) for name in chosen}))
    return filters


def _span(values: pa.Array, width: float, chance: random.Random) -> tuple[Any, Any]:
    steps = int(len(values) * width)
    first = chance.randrange(max(1, len(values) - steps))
    return values[first], values[min(first + steps, len(values) - 1)]


def read_by(path: Path, filters: Sequence[Filter]) -> list[tuple[int, int]]:
    """(files, bytes) that each filter reads of the newest version, as Delta's data skipping decides."""
    files = pa.table(DeltaTable(str(path)).get_add_actions(flatten=True))
    return [_read(files, filter_) for filter_ in filters]


def _read(files: pa.Table, wanted: Filter) -> tuple[int, int]:
    chosen = files
    for column, (low, high) in wanted.bounds.items():
        least, most = chosen[f"min.{column}"], chosen[f"max.{column}"]
        inside = pc.and_(pc.less_equal(least, high.cast(least.type)), pc.greater_equal(most, low.cast(most.type)))
        # Nothing but NULL: no bounds, and no value is there.
        chosen = chosen.filter(pc.fill_null(inside, fill_value=False))
    return chosen.num_rows, pc.sum(chosen["size_bytes"]).as_py() or 0

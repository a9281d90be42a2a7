"""Measures how well a table's files are clustered by its columns, from the log's bounds, without reading rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.delta.clustering.column_ranks import Positions, rank_column
from tidemark.delta.clustering.errors import ClusterColumnError
from tidemark.delta.file_statistics import file_statistics
from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class ColumnLayout:
    """`depth` is the average number of files whose bounds hold a value, `deepest` the highest. 1 means sorted.

    `bounded` files have bounds. Every filter reads the others, unless all their values are NULL.
    """

    column: str
    depth: float
    deepest: int
    bounded: int


@dataclass(frozen=True)
class Layout:
    """A version's files, and the layout of each column with bounds."""

    version: int
    files: int
    size_bytes: int
    columns: tuple[ColumnLayout, ...]


@dataclass(frozen=True)
class Between:
    """A filter: the column's value is from `low` to `high`."""

    column: str
    low: str
    high: str


def layout_of(path: TableLocation, columns: Sequence[str] | None = None) -> Layout:
    """The newest version's layout, by `columns` or by all columns with bounds.

    Raises NotADeltaTableError, ClusterColumnError.
    """
    look = file_statistics(path)
    known = [name.removeprefix("min.") for name in look.files.column_names if name.startswith("min.")]
    chosen = list(dict.fromkeys(columns or known))
    for name in chosen:
        if name not in known:
            raise ClusterColumnError.unknown(path, name, known)
    layouts = tuple(column_layout(look.files, name) for name in chosen)
    return Layout(look.version, look.files.num_rows, look.size_bytes, layouts)


def column_layout(files: pa.Table, column: str) -> ColumnLayout:
    """The layout of a column. `files` has `min.<column>` and `max.<column>`."""
    low, high = files[f"min.{column}"], files[f"max.{column}"]
    both = pc.and_(pc.is_valid(low), pc.is_valid(high))
    low, high = low.filter(both), high.filter(both)
    if len(low) == 0:
        return ColumnLayout(column, 0.0, 0, 0)
    key, _ = rank_column(column, pa.chunked_array([*low.chunks, *high.cast(low.type).chunks], low.type))
    depths = depths_at(key.positions(low), key.positions(high))
    return ColumnLayout(column, float(depths.mean()), int(depths.max()), len(low))


def depths_at(lows: Positions, highs: Positions) -> Positions:
    """The number of spans [low, high] that hold each of their ends."""
    ends = np.concatenate([lows, highs])
    begun = np.searchsorted(np.sort(lows), ends, side="right")
    over = np.searchsorted(np.sort(highs), ends, side="left")
    return begun - over


def files_read(path: TableLocation, filters: Sequence[Between]) -> tuple[int, int]:
    """(files, bytes) of the newest version that may hold rows that match all `filters`. Their columns have bounds."""
    files = file_statistics(path).files
    for filter_ in filters:
        least, most = files[f"min.{filter_.column}"], files[f"max.{filter_.column}"]
        low, high = (pa.scalar(text).cast(least.type) for text in (filter_.low, filter_.high))
        inside = pc.and_(pc.less_equal(least, high), pc.greater_equal(most, low))
        files = files.filter(pc.fill_null(inside, fill_value=True))
    return files.num_rows, int(pc.sum(files["size_bytes"]).as_py() or 0)

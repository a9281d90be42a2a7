"""Finds clustered files in the range of new rows, by the log's bounds alone.

A file overlaps badly if the new files have much data inside its bounds, compared to its own size: a filter that finds
the file reads the new ones as well. New rows that are spread over a large table are sparse everywhere, and no old file
is rewritten. New rows of one user, or of today, affect the files of that user or day.
"""

import datetime as dt
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql.types import DateType, StringType, TimestampNTZType, TimestampType

from tidemark.delta.clustering.clusterable_columns import ClusterColumn
from tidemark.delta.clustering.column_ranks import Floats, Positions
from tidemark.delta.live_file import LiveFile

# With more files, every n-th is compared and counts n times, so that the number of pairs is bounded.
_MOST_COMPARED = 1_000

Bound = float | str
Span = tuple[Bound, Bound]


@dataclass(frozen=True)
class FileKeyRanges:
    """Files as ranges: for each key, the ranks of the lowest and highest value among the ends of all files.

    Ranks are integers, so a width is the number of ends in a range: ends are where the data is.
    """

    sizes: Floats
    lows: tuple[Positions, ...]
    highs: tuple[Positions, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], spans: Sequence[Sequence[Span | None]]) -> "FileKeyRanges":
        """`spans` has the files' bounds for each key; None for a file without bounds, which may hold any value."""
        placed = [_span_arrays(own) for own in spans]
        size = np.maximum(1.0, np.asarray(sizes, dtype=np.float64))
        return cls(size, tuple(low for low, _ in placed), tuple(high for _, high in placed))

    def bytes_inside(self, chosen: Sequence[int], others: Sequence[int]) -> Floats:
        """The estimated bytes of `chosen` inside the bounds of each of `others` (indexes of files)."""
        there = np.asarray(others, dtype=np.int64)
        step = max(1, -(-len(chosen) // _MOST_COMPARED))
        inside = np.zeros(len(there))
        for at in chosen[::step]:
            inside += self.sizes[at] * step * self._share(at, there)
        return inside

    def badly_overlapped(self, chosen: Sequence[int], others: Sequence[int], most_ratio: float) -> list[int]:
        """The files among `others` with at most `most_ratio` times as many bytes as `chosen` has inside their bounds.

        Together they have at most `most_ratio` times the bytes of `chosen`. The worst come first.
        """
        there = np.asarray(others, dtype=np.int64)
        own, inside = self.sizes[there], self.bytes_inside(chosen, others)
        worst = np.argsort(-inside / own, kind="stable")
        is_bad = own[worst] <= most_ratio * inside[worst]
        fits = np.cumsum(own[worst]) <= most_ratio * self.sizes[list(chosen)].sum()
        return [int(number) for number in there[worst[is_bad & fits]]]

    def _share(self, at: int, others: Positions) -> Floats:
        """The part of range `at` that each of `others` covers, 0 to 1."""
        part = np.ones(len(others))
        for low, high in zip(self.lows, self.highs, strict=True):
            both = np.minimum(high[at], high[others]) - np.maximum(low[at], low[others]) + 1
            part *= np.maximum(0, both) / (high[at] - low[at] + 1)
        return part


def _span_arrays(spans: Sequence[Span | None]) -> tuple[Positions, Positions]:
    places: dict[Any, int] = {end: at for at, end in enumerate(sorted({end for span in spans if span for end in span}))}
    whole = (0, max(0, len(places) - 1))
    placed = [(places[span[0]], places[span[1]]) if span else whole for span in spans]
    return np.array([low for low, _ in placed], dtype=np.int64), np.array([high for _, high in placed], dtype=np.int64)


def spans_of(files: Sequence[LiveFile], column: ClusterColumn) -> list[Span | None]:
    """The log's bounds of a column in comparable form; None if there are none."""
    return [_span(json.loads(file.described.get("stats") or "{}"), column) for file in files]


def _span(stats: dict[str, Any], column: ClusterColumn) -> Span | None:
    low = stats.get("minValues", {}).get(column.physical)
    high = stats.get("maxValues", {}).get(column.physical)
    try:
        return None if low is None or high is None else (_bound(low, column), _bound(high, column))
    except ValueError:  # A year after 9999 is valid in Spark, but not in Python.
        return None


def _bound(value: object, column: ClusterColumn) -> Bound:
    """Text as text, everything else as a number. That is precise enough for an overlap."""
    if isinstance(column.kind, StringType):
        return str(value)
    if isinstance(column.kind, DateType | TimestampType | TimestampNTZType):
        moment = dt.datetime.fromisoformat(str(value))
        return moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp()
    number = float(str(value))
    return math.inf if math.isnan(number) else number

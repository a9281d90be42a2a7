"""Recommends columns to cluster a table by, from the filters of queries and the files' bounds."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tidemark.delta.clustering.clusterable_columns import MOST_COLUMNS
from tidemark.delta.clustering.layout import Layout

# A column in fewer scans is left out, because others need the budget of files more.
_LEAST_SHARE = 0.05
_LEAST_FILES = 8
# Clustering is worth it if it would at least halve the depth.
_WORTH = 2.0


@dataclass(frozen=True)
class Advice:
    """`weights` is the share of scans that filter by each column; `reason` explains the action."""

    action: Literal["cluster", "keep", "none"]
    weights: Mapping[str, float]
    reason: str


def advice_for(usage: Counter[frozenset[str]], layout: Layout) -> Advice:
    """The advice for a table whose scans filtered by these sets of columns."""
    scans = usage.total()
    if scans == 0:
        return Advice("none", {}, "no query that filters this table was recorded")
    bounded = {column.column: column for column in layout.columns if column.bounded}
    weights = _weights(usage, scans, frozenset(bounded))
    if not weights:
        return Advice("none", {}, f"none of {scans} scans filters by a column that has bounds")
    if layout.files < _LEAST_FILES:
        return Advice("keep", weights, f"{layout.files} files: filters can hardly skip any")
    ideal = layout.files ** (1 - 1 / len(weights))
    worst = max(weights, key=lambda name: weights[name] * bounded[name].depth)
    if bounded[worst].depth < _WORTH * max(1.0, ideal):
        return Advice("keep", weights, f"filters find {bounded[worst].depth:.1f} of {layout.files} files by {worst}")
    used = round(weights[worst] * scans)
    reason = (
        f"{used} of {scans} scans filter by {worst}, and a value of it lies in {bounded[worst].depth:.1f} of"
        f" {layout.files} files; about {max(1.0, ideal):.1f} would do"
    )
    return Advice("cluster", weights, reason)


def _weights(usage: Counter[frozenset[str]], scans: int, bounded: frozenset[str]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for columns, count in usage.items():
        counts.update(dict.fromkeys(columns & bounded, count))
    frequent = [(name, count / scans) for name, count in counts.most_common() if count / scans >= _LEAST_SHARE]
    return dict(frequent[:MOST_COLUMNS])

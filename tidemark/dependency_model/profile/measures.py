"""The measures of a slice that are compared with its history, on scales with even noise, each with its error.

Counts: the logarithm. Shares: the arcsine of the root (its noise is 1/sqrt(n) for any share). Quantiles of numbers: a
logarithm for both signs. Quantiles of times: their place in the slice's window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.profile.figures import RANKS, SHOWN_FREQUENT
from tidemark.dependency_model.profile.scale import Scale, log, numbers, share
from tidemark.dependency_model.profile.sketches import DISTINCT_ERROR, RANK_ERROR, TRACKED_VALUES
from tidemark.dependency_model.profile.slice_profile import ColumnKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.profile.figures import ColumnFigures, SliceFigures
    from tidemark.dependency_model.time.window import Window

_STANDARD_RANK_ERROR: Final = RANK_ERROR / 2.6
"""RANK_ERROR is stated at 99 % confidence."""
_FEW: Final = 100
_OF_A_KEY: Final = 0.9
_COMPARED_SHARES: Final = 6
_MICROS: Final = 1_000_000
_WITH_NEIGHBOURS: Final = ((0.5, 0.25, 0.75), (0.95, 0.75, 0.99))
"""A rank, and two ranks that show the density of values around it."""


class ProfileMeasure(NamedTuple):
    """A measure of the slice, of a column, or of a value of a column."""

    name: str
    column: str = ""
    value: str = ""

    def __str__(self) -> str:
        words = self.name if not self.column else f"{self.name} of {self.column}"
        return f"{words} = {self.value}" if self.value else words


@dataclass(frozen=True, slots=True)
class Measured:
    """A value on its scale. `error` is its standard error from the sketches and the number of rows alone."""

    value: float
    error: float
    scale: Scale


ROWS: Final = ProfileMeasure("rows")
SHARE: Final = "share"
MEDIAN: Final = "median"
HIGH_QUANTILE: Final = "95 % quantile"
MIX: Final = frozenset({SHARE, MEDIAN, HIGH_QUANTILE})
"""Measures of the mix of values, which changes on holidays."""
DISTINCT: Final = "distinct values for a value"
"""If values repeat, this falls as rows grow. It says little about a day with an unusual number of rows."""


def measures_of(figures: SliceFigures, window: Window | None) -> dict[ProfileMeasure, Measured]:
    """All measures of a slice except the shares of values, which depend on the values in its history."""
    told = {ROWS: Measured(math.log1p(figures.rows), 1 / math.sqrt(figures.rows + 1), log)}
    for entity, rows in figures.inputs.items():
        if rows and figures.rows:
            told[ProfileMeasure(f"rows for a row of {entity}")] = _ratio(figures.rows, rows)
    for name, column in figures.columns.items():
        if figures.rows:
            told[ProfileMeasure("nulls", name)] = _share(figures.nulls(name), figures.rows)
        if column.values >= _FEW:
            told.update(_of_values(name, column, window))
    return told


def _ratio(rows: int, of: int) -> Measured:
    """Rows per row of an input. The error assumes that each row comes from one row of it;

    history shows the noise of sums.
    """
    ratio = rows / of
    return Measured(math.log(ratio), math.sqrt(abs(1 - ratio) / rows) + 1 / of, numbers(math.exp, 4))


def _share(part: float, of: int) -> Measured:
    return Measured(2 * math.asin(math.sqrt(min(max(part, 0.0), 1.0))), 1 / math.sqrt(of), share)


def _of_values(name: str, column: ColumnFigures, window: Window | None) -> Iterator[tuple[ProfileMeasure, Measured]]:
    if column.distinct is not None and column.distinct >= _FEW:
        log_share = math.log(column.distinct / column.values)
        yield ProfileMeasure(DISTINCT, name), Measured(log_share, DISTINCT_ERROR, numbers(math.exp, 3))
        yield from _key_density(name, column)
    if len(column.quantiles) == len(RANKS):
        for rank, low, high in _WITH_NEIGHBOURS:
            measured = _quantile(column, (rank, low, high), window)
            if measured is not None:
                yield ProfileMeasure(MEDIAN if rank == 0.5 else HIGH_QUANTILE, name), measured


def _key_density(name: str, column: ColumnFigures) -> Iterator[tuple[ProfileMeasure, Measured]]:
    """The density of a key of whole numbers: distinct values divided by the range. A gap lowers it."""
    if column.kind is not ColumnKind.NUMBER or (column.distinct or 0) < _OF_A_KEY * column.values:
        return
    low, high = column.minimum or "", column.maximum or ""
    if low.lstrip("-").isdecimal() and high.lstrip("-").isdecimal():
        density = column.values / (int(high) - int(low) + 1)
        yield (
            ProfileMeasure("values in the range", name),
            Measured(math.log(density), 2 / column.values, numbers(math.exp, 4)),
        )


def _quantile(column: ColumnFigures, ranks: tuple[float, float, float], window: Window | None) -> Measured | None:
    at, low, high = (column.quantiles[RANKS.index(rank)] for rank in ranks)
    rank_error = _STANDARD_RANK_ERROR + math.sqrt(ranks[0] * (1 - ranks[0]) / column.values)
    if column.kind is ColumnKind.TIME:
        if window is None:
            return None
        start, length = window.start.timestamp() * _MICROS, (window.end - window.start).total_seconds() * _MICROS
        slope = (high - low) / length / (ranks[2] - ranks[1])
        return Measured((at - start) / length, slope * rank_error, numbers(float, 3))
    slope = (_both_signs(high) - _both_signs(low)) / (ranks[2] - ranks[1])
    step = _both_signs(abs(at) + 1) - _both_signs(abs(at)) if _are_whole(column) else 0.0
    return Measured(_both_signs(at), max(slope * rank_error, step), numbers(_from_both_signs, 4))


_UNIT: Final = 1e-3


def _both_signs(value: float) -> float:
    """A logarithm that also works for negative numbers, and is about linear below a thousandth."""
    return math.asinh(value / _UNIT)


def _from_both_signs(value: float) -> float:
    return math.sinh(value) * _UNIT


def _are_whole(column: ColumnFigures) -> bool:
    return all((end or "").lstrip("-").isdecimal() for end in (column.minimum, column.maximum))


def frequent_in(figures: SliceFigures) -> set[ProfileMeasure]:
    """The values whose shares are compared: in columns with exact counts, which have few values."""
    return {
        ProfileMeasure(SHARE, name, frequent.value)
        for name, column in figures.columns.items()
        if is_counted_exactly(column)
        for frequent in column.frequent[:_COMPARED_SHARES]
    }


def is_counted_exactly(column: ColumnFigures) -> bool:
    """Whether the counts of frequent values are exact, because all values were tracked."""
    return column.distinct is not None and column.distinct <= TRACKED_VALUES and column.values >= _FEW


def share_in(figures: SliceFigures, measure: ProfileMeasure) -> Measured | None:
    """The share of a value. For a value that is not shown, at most the share of the last one shown."""
    column = figures.columns.get(measure.column)
    if column is None or not is_counted_exactly(column) or not column.frequent:
        return None
    counts = {frequent.value: frequent.rows for frequent in column.frequent}
    least = column.frequent[-1].rows if len(column.frequent) == SHOWN_FREQUENT else 0
    return _share(counts.get(measure.value, least) / column.values, column.values)

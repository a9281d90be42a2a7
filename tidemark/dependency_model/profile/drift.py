"""The distance of a column's distribution from that of other slices, from the sketches of their profiles.

Numbers, and times relative to the slice's window: the largest difference of cumulative shares (Kolmogorov and Smirnov).
Texts and flags: half of the sum of the differences of shares (total variation). Both are 0 for equal distributions and
1 without common values. The result is the median over past slices, so that one wrong slice has no effect.

The distance that chance explains is subtracted: 99 % of slices with the same distribution are below it (Dvoretzky,
Kiefer, Wolfowitz; McDiarmid), so that few rows are not drift. NULLs are ignored here: the profile's `nulls` are
compared with history.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.profile.sketches import (
    RANK_ERROR,
    TRACKED_VALUES,
    cumulative_shares,
    distinct_values,
    frequent_values,
    quantiles,
)
from tidemark.dependency_model.profile.slice_profile import ColumnKind
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.profile.slice_profile import ColumnProfile, SliceProfile

_RANKS: Final = tuple(percent / 100 for percent in range(101))
_DKW: Final = math.log(200) / 2
_MCDIARMID: Final = math.log(100) / 2
_MICROS: Final = 1_000_000


class Dated(NamedTuple):
    """The profile of a slice whose window starts `start` seconds after 1970-01-01T00:00Z."""

    profile: SliceProfile
    start: float = 0.0


class DriftDistance(NamedTuple):
    """The distance from 0 to 1 beyond chance: a median over `compared` past slices."""

    distance: float
    compared: int


def drift(column: str, now: Dated, past: Sequence[Dated]) -> DriftDistance | None:
    """The distance from the past slices. None if the column has no values now, or had none in all past slices.

    Raises EntityError for a column without a known distribution.
    """
    own = _told_column(column, now.profile)
    others = [(other, dated.start) for dated in past if (other := _of(column, dated.profile)) is not None]
    there = [
        (other, start)
        for other, start in others
        if other.values and other.kind is own.kind and not _why_not_told(other)
    ]
    if not own.values or not there:
        return None
    distances = [_beyond_chance(own, other, now.start - start) for other, start in there]
    return DriftDistance(median(distances), len(distances))


def _of(name: str, profile: SliceProfile) -> ColumnProfile | None:
    return next((column for column in profile.columns if column.name == name), None)


def _told_column(name: str, profile: SliceProfile) -> ColumnProfile:
    column = _of(name, profile)
    if column is None:
        raise EntityError(f"{name} is not in the profile", hint=f"name it: profile: {{columns: [{name}]}}")
    why = _why_not_told(column) if column.values else ""
    if why:
        raise EntityError(f"the distribution of {name} is not known: {why}")
    return column


def _why_not_told(column: ColumnProfile) -> str:
    if column.kind is ColumnKind.OTHER:
        return "it is not a number, time, text or flag"
    sketch = column.frequent if column.kind is ColumnKind.TEXT else column.quantiles
    if sketch is None or column.distinct is None:
        return "the profile is full with the columns before it"
    number = distinct_values(column.distinct)
    if column.kind is ColumnKind.TEXT and number > TRACKED_VALUES:
        return f"about {number:.0f} values, and {TRACKED_VALUES} are counted"
    return ""


def _beyond_chance(own: ColumnProfile, other: ColumnProfile, moved: float) -> float:
    noise = 1 / own.values + 1 / other.values
    if own.kind is ColumnKind.TEXT:
        distance, number = _total_variation(own, other)
        chance = math.sqrt(number * noise) / 2 + math.sqrt(_MCDIARMID * noise)
    else:
        distance = _greatest_difference(own, other, moved * _MICROS if own.kind is ColumnKind.TIME else 0.0)
        chance = math.sqrt(_DKW * noise) + math.sqrt(2) * RANK_ERROR
    return max(0.0, distance - chance)


def _total_variation(own: ColumnProfile, other: ColumnProfile) -> tuple[float, int]:
    """The distance, and the number of different values."""
    shares = [_shares(own), _shares(other)]
    values = shares[0].keys() | shares[1].keys()
    return sum(abs(shares[0].get(value, 0.0) - shares[1].get(value, 0.0)) for value in values) / 2, len(values)


def _shares(column: ColumnProfile) -> dict[str, float]:
    frequent = frequent_values(column.frequent or b"", 2 * TRACKED_VALUES)
    return {value.value: value.rows / column.values for value in frequent}


def _greatest_difference(own: ColumnProfile, other: ColumnProfile, moved: float) -> float:
    """The largest difference of cumulative shares.

    `moved` is the expected shift from the past values to the present ones.
    """
    mine, theirs = own.quantiles or b"", other.quantiles or b""
    at = {*quantiles(mine, _RANKS), *(value + moved for value in quantiles(theirs, _RANKS))}
    points = sorted(value for value in at if math.isfinite(value))
    shares = zip(
        cumulative_shares(mine, points), cumulative_shares(theirs, [value - moved for value in points]), strict=True
    )
    return max((abs(left - right) for left, right in shares), default=0.0)

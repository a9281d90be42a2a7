"""A robust prediction of a number from its past, with a weekly rhythm and growth.

Two methods are tested on the past itself. One is the level of the same weekday: the median of up to six weeks, moved by
the median weekly growth. The other is the level of the last four weeks. The method with smaller errors is used, and its
errors are the spread: no distribution of the noise is assumed. A few wrong slices do not move a median.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAST: Final = 84
"""The number of past slices: six weeks for a prediction, tested on each of the last six weeks."""
_TRIED: Final = 42
_SEASONS: Final = 6
_FLAT: Final = 28
_LEAST_SEASONS: Final = 3
_LEAST_FLAT: Final = 7
_SHORT: Final = 7
_FULL: Final = 21
_MOVED_FOR: Final = 4
_MOVED_BY: Final = 3.0
_TINY: Final = 1e-9
_OF_NORMAL: Final = ((0.5, 1.4826), (0.8, 0.7803), (0.9, 0.6080))
"""A quantile of absolute errors, and its factor to a standard deviation for normal errors."""


class History(Enum):
    """The amount of history. A `short` history has wider limits. After a `changed` level, the new level is expected."""

    NONE = "none"
    SHORT = "short"
    FULL = "full"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The expected value, with a standard deviation."""

    value: float
    spread: float
    history: History


def predict(past: Mapping[int, float], season: int) -> Prediction | None:
    """The next number after a past, by how many slices ago (1 is the last). None if the past is too short.

    `season` is the number of slices in a week (7 for days, 1 without a rhythm).
    """
    ways = [_seasonal(past, season), _flat(past)]
    tried = [(way(0), _errors(past, way)) for way in ways]
    candidates = [(value, errors) for value, errors in tried if value is not None and len(errors) >= _SHORT]
    if not candidates:
        return None
    most = max(len(errors) for _, errors in candidates)
    well_tried = [(value, errors) for value, errors in candidates if 2 * len(errors) >= most]
    value, errors = min(well_tried, key=lambda candidate: _spread(candidate[1]))
    return _with_level(value, errors)


def _with_level(value: float, errors: Mapping[int, float]) -> Prediction:
    moved = _moved(errors)
    before = {ago: error for ago, error in errors.items() if ago not in moved}
    if len(moved) < _MOVED_FOR or not before:
        return Prediction(value, _spread(errors), History.FULL if len(errors) >= _FULL else History.SHORT)
    level = median(moved.values())
    since = _spread({ago: error - level for ago, error in moved.items()})
    return Prediction(value + level, max(_spread(before), since), History.CHANGED)


def _moved(errors: Mapping[int, float]) -> dict[int, float]:
    """The last consecutive errors that are large and have the same sign:

    the level has changed since the first of them.
    """
    typical = median(map(abs, errors.values())) * _OF_NORMAL[0][1]
    moved: dict[int, float] = {}
    for ago in sorted(errors):
        is_large = abs(errors[ago]) > max(_MOVED_BY * typical, _TINY)
        if not is_large or any((errors[ago] > 0) is not (error > 0) for error in moved.values()):
            break
        moved[ago] = errors[ago]
    return moved


def _seasonal(past: Mapping[int, float], season: int) -> Callable[[int], float | None]:
    """A prediction from the same weekdays before, for the slice `ago` slices ago."""

    def at(ago: int) -> float | None:
        before = {count: past[ago + count * season] for count in range(1, _SEASONS + 1) if ago + count * season in past}
        if len(before) < _LEAST_SEASONS:
            return None
        steps = range(ago + 1, ago + 1 + _FLAT)
        growth = [past[step] - past[step + season] for step in steps if step in past and step + season in past]
        a_season = median(growth) if len(growth) >= _LEAST_FLAT else 0.0
        return median(value + count * a_season for count, value in before.items())

    return at


def _flat(past: Mapping[int, float]) -> Callable[[int], float | None]:
    def at(ago: int) -> float | None:
        before = [past[step] for step in range(ago + 1, ago + 1 + _FLAT) if step in past]
        return median(before) if len(before) >= _LEAST_FLAT else None

    return at


def _errors(past: Mapping[int, float], way: Callable[[int], float | None]) -> dict[int, float]:
    """The actual value minus the predicted value, by how long ago."""
    told = {ago: way(ago) for ago in sorted(past) if ago <= _TRIED}
    return {ago: past[ago] - value for ago, value in told.items() if value is not None}


def _spread(errors: Mapping[int, float]) -> float:
    """A standard deviation that a few outliers do not widen, but heavy tails do."""
    sizes = sorted(map(abs, errors.values()))
    return max(sizes[min(int(rank * len(sizes)), len(sizes) - 1)] * factor for rank, factor in _OF_NORMAL)

"""What a number should be, by its past: robust, with a weekly rhythm and growth where it has them.

Two ways to predict are tried on the past itself: the level of the same weekday (the median of up to six weeks, moved on
by the median growth of a week), and the level of the last four weeks. The one whose errors were smaller is believed,
and these errors are the spread: nothing is assumed about the noise. A few faults in the past do not move a median.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAST: Final = 84
"""How many slices back are looked at: six weeks for a prediction, tried on each of the last six weeks."""
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
"""A quantile of absolute errors, and what makes a standard deviation of it where they are normal."""


class History(Enum):
    """How much is known: `short` history gets a wide band, a level that has `changed` is followed."""

    NONE = "none"
    SHORT = "short"
    FULL = "full"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is expected, with a standard deviation."""

    value: float
    spread: float
    history: History


def predict(past: Mapping[int, float], season: int) -> Prediction | None:
    """The number after a past, by how many slices ago (1 is the last). None where there is too little to go by.

    `season` is how many slices a week has (7 of days, 1 where there is no rhythm).
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
    """The last errors without a gap that are large, and all of one sign: the level is another one since."""
    typical = median(map(abs, errors.values())) * _OF_NORMAL[0][1]
    moved: dict[int, float] = {}
    for ago in sorted(errors):
        is_large = abs(errors[ago]) > max(_MOVED_BY * typical, _TINY)
        if not is_large or any((errors[ago] > 0) is not (error > 0) for error in moved.values()):
            break
        moved[ago] = errors[ago]
    return moved


def _seasonal(past: Mapping[int, float], season: int) -> Callable[[int], float | None]:
    """What the same weekdays before say of the slice so long ago."""

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
    """By how long ago: what came less what the way would have said."""
    told = {ago: way(ago) for ago in sorted(past) if ago <= _TRIED}
    return {ago: past[ago] - value for ago, value in told.items() if value is not None}


def _spread(errors: Mapping[int, float]) -> float:
    """A standard deviation that a few outliers do not widen, and heavy tails do."""
    sizes = sorted(map(abs, errors.values()))
    return max(sizes[min(int(rank * len(sizes)), len(sizes) - 1)] * factor for rank, factor in _OF_NORMAL)

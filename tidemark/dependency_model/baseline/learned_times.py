"""Durations and arrival times (seconds after the window's end), learned from past ones.

The model works on logarithms, so that doubling and halving are equally far. It has a level with a slope (Theil and
Sen), an effect of each group (weekday; hour and weekday for shorter periods), and quantiles of the residuals. It uses
medians, so that one outlier changes little. After a jump of the level, older times are not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import exp, log, log1p
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Groups = tuple[int, ...]

_Float = TypeVar("_Float", np.float32, np.float64)

STEPS: Final = 81
LEVELS: Final = np.linspace(0.0, 1.0, STEPS)
"""The levels of the stored quantiles."""
KEPT: Final = 90
"""The most recent observations that are used with one observation a day. Shorter periods use three weeks."""
KEPT_OF_HOURS: Final = 3 * 7 * 24
DAY: Final = 86_400.0

_SHORT: Final = 7
_RHYTHM: Final = 14
_JUMP: Final = log(2.5)
_OTHER_CODE: Final = log(1.25)
TO_DEVIATION: Final = 1.4826
"""The factor from a median absolute deviation to a standard deviation."""
_LONE_JUMP: Final = log(6.0)
_LOOKED_BACK: Final = 14
_WIDE: Final = log(4.0)
_NARROW: Final = 0.5
_FURTHEST: Final = 14.0
_TYPICAL: Final = 60.0
_GAP: Final = 0.25
_LONGEST: Final = 20.0
_LEVEL: Final = 21
_MEDIAN_VARIANCE: Final = 1.57
"""The variance of a median, divided by the variance of a mean of the same sample size."""
NORMAL: Final = np.array([NormalDist().inv_cdf(float(np.clip(level, 0.004, 0.996))) for level in LEVELS])
"""The standard normal distribution at `LEVELS`."""


class HistoryLabel(Enum):
    """The quality of the history: none, fewer than seven times, a recent jump of the level, or steady."""

    NONE = "none"
    SHORT = "short"
    CHANGED = "changed"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class Observed:
    """A measurement at `at` (seconds since 1970): `amount` is a duration in seconds or a number of rows.

    `groups` are the weekday, or hour and weekday; all observations of a history have the same number of groups. `code`
    is the id of the code that computed it, empty if not recorded.
    """

    at: float
    amount: float
    groups: Groups = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class LearnedTimes:
    """A distribution that depends on the time.

    `level` and `spread` (at `LEVELS`) are logarithms, `drift` is per day.
    """

    label: HistoryLabel
    count: int
    level: float
    spread: Array
    drift: float = 0.0
    last: float = 0.0
    effects: Sequence[Mapping[int, float]] = ()

    def center(self, at: float, groups: Groups = ()) -> float:
        """The center of the distribution, as a logarithm, at an instant (seconds since 1970)."""
        ahead = min(max((at - self.last) / DAY, 0.0), _FURTHEST) if self.last else 0.0
        center = self.level + self.drift * ahead
        for effects, group in zip(self.effects, groups, strict=False):
            center += effects.get(group, 0.0)
        return center

    def quantiles(self, at: float, groups: Groups = ()) -> Array:
        """Seconds at `LEVELS` for an instant (seconds since 1970)."""
        return _seconds(self.center(at, groups) + self.spread)

    def of_new_code(self) -> LearnedTimes:
        """The distribution for code that never ran: the same median with a wider spread."""
        return replace(self, label=HistoryLabel.CHANGED, spread=self.spread + NORMAL * _NARROW) if self.count else self

    def typical(self, at: float, groups: Groups = ()) -> float:
        """The median in seconds."""
        return float(self.quantiles(at, groups)[STEPS // 2])


def stacked_quantiles(asked: Sequence[tuple[LearnedTimes, Groups]], at: float) -> npt.NDArray[np.float32]:
    """The quantiles of many distributions, one row each. This is far faster than one call for each."""
    logs = np.empty((len(asked), STEPS), np.float32)
    for row, (times, groups) in enumerate(asked):
        np.add(times.spread, times.center(at, groups), out=logs[row], casting="same_kind")
    return _seconds(logs)


def _seconds(logs: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    np.minimum(logs, _LONGEST, out=logs)
    return np.maximum(np.expm1(logs, out=logs), 0, out=logs)


def learn(observations: Sequence[Observed], typical: float = _TYPICAL) -> LearnedTimes:
    """The distribution of observations in order of time. Without any, a wide one around `typical` seconds."""
    if not observations:
        return LearnedTimes(HistoryLabel.NONE, 0, log1p(typical), NORMAL * _WIDE)
    logs = [log1p(max(observed.amount, 0.0)) for observed in observations]
    jump = _last_jump(logs, _in_a_day(observations))
    renewed = _first_of_code(observations)
    begin = renewed if renewed > jump and _lie_apart(logs[jump:renewed], logs[renewed:]) else jump
    lone = 0 < begin == len(logs) - 1 and begin != renewed
    chosen = slice(0, -1) if lone else slice(begin, None)
    learned = _of_one_level(observations[chosen], np.array(logs[chosen]), is_changed=begin > 0)
    return _with_lone(learned, logs[-1]) if lone else learned


def _of_one_level(kept: Sequence[Observed], logs: Array, *, is_changed: bool) -> LearnedTimes:
    days = np.array([observed.at for observed in kept]) / DAY
    groups = np.array([observed.groups for observed in kept], np.int64).reshape(len(kept), -1)
    count, last = len(kept), kept[-1].at
    has_rhythm = count >= _RHYTHM
    drift = _slope(days, logs) if has_rhythm else 0.0
    flat = logs - drift * (days - days[-1])
    effects: list[Mapping[int, float]] = []
    fitted = 0.0
    for column in groups.T if has_rhythm else ():
        effect, share, by = _effects(column, flat)
        effects.append(effect)
        flat, fitted = flat - by, fitted + share
    level = float(np.median(flat[-_LEVEL:]))
    # Fitted values make the residuals too small. This widens them by the variance of the fitted means and of the
    # median.
    part = min(0.6, (1.0 + has_rhythm + fitted) / count)
    wider = ((1.0 + _MEDIAN_VARIANCE * max(part, 1.0 / _LEVEL)) / (1.0 - part)) ** 0.5
    label = HistoryLabel.SHORT if count < _SHORT else HistoryLabel.STEADY
    label = HistoryLabel.CHANGED if is_changed and count < 2 * _SHORT else label
    return LearnedTimes(label, count, level, _spread((flat - level) * wider), drift, last, effects)


def _in_a_day(kept: Sequence[Observed]) -> int:
    """The approximate number of observations a day."""
    days = (kept[-1].at - kept[0].at) / DAY
    return max(1, min(24, round((len(kept) - 1) / days))) if days > 1.0 else 1


def _last_jump(logs: Sequence[float], in_a_day: int) -> int:
    """The index at which the present level begins, 0 without a jump.

    A jump is two observations in a row far from the usual value, or a last one very far from it. At least three
    observations of a level come before a jump.
    """
    begin = 0
    for number in range(3, len(logs)):
        if number - begin < 3:
            continue
        usual = median(logs[max(begin, number - _LOOKED_BACK) : number])
        off = logs[number] - usual
        if abs(off) <= _JUMP:
            continue
        if number + 1 == len(logs):
            begin = number if abs(off) > _LONE_JUMP else begin
        elif _is_as_far(off, logs[number + 1] - usual) and _is_new(logs[begin:number], logs[number], off, in_a_day):
            begin = number
    return begin


def _first_of_code(observations: Sequence[Observed]) -> int:
    """The index of the first observation of the present code, or 0 if no other code is recorded."""
    code = next((observed.code for observed in reversed(observations) if observed.code), "")
    others = [number for number, observed in enumerate(observations) if observed.code not in ("", code)]
    return others[-1] + 1 if others else 0


def _lie_apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the medians differ by more than chance explains (three deviations): new code takes other times."""
    lately = before[-_LOOKED_BACK:]
    usual = median(lately)
    noise = TO_DEVIATION * median(abs(value - usual) for value in lately)
    by_chance = noise * (_MEDIAN_VARIANCE / len(lately) + _MEDIAN_VARIANCE / len(after)) ** 0.5
    return bool(abs(median(after) - usual) > max(_OTHER_CODE, 3.0 * by_chance))


def _is_as_far(off: float, following: float) -> bool:
    return abs(following) > _JUMP and (off > 0) == (following > 0)


def _is_new(logs: Sequence[float], newest: float, off: float, in_a_day: int) -> bool:
    """Whether the level did not occur in the last one or two weeks. A slow night or weekend is a rhythm, not a jump."""
    before = logs[-_LOOKED_BACK * in_a_day :]
    alike = sum(abs(earlier - newest) < abs(off) / 3 for earlier in before)
    return alike * max(7, in_a_day) < len(before)


def _slope(days: Array, logs: Array) -> float:
    """The slope after Theil and Sen: the median over pairs at least a week apart, at most 0.1 a day."""
    some = slice(None, None, 1 + len(days) // KEPT)
    days, logs = days[some], logs[some]
    later, earlier = np.triu_indices(len(days), 1)[::-1]
    apart = days[later] - days[earlier]
    weeks = np.abs(apart / 7.0 - np.round(apart / 7.0)) < 0.05
    chosen = (apart >= 6.5) & (weeks if np.count_nonzero(weeks & (apart >= 6.5)) >= _SHORT else True)
    if not np.any(chosen):
        return 0.0
    return float(np.clip(np.median((logs[later] - logs[earlier])[chosen] / apart[chosen]), -0.1, 0.1))


def _effects(groups: npt.NDArray[np.int64], flat: Array) -> tuple[dict[int, float], float, Array]:
    """The effect of each group, the number of effectively fitted values, and the effect of each observation.

    An effect is the distance of the group's median from the median of all. Effects shrink towards zero as far as chance
    explains them (James and Stein, Estimation with quadratic loss, 1961).
    """
    center = float(np.median(flat))
    names, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    off = np.array([float(np.median(flat[place == number])) for number in range(len(names))]) - center
    rest = flat - center - off[place]
    free = max(1.0, len(flat) - len(names))
    noise = TO_DEVIATION * float(np.median(np.abs(rest))) * (len(flat) / free) ** 0.5
    by_chance = _MEDIAN_VARIANCE * noise**2 * float(np.mean(1.0 / sizes))
    apart = float(np.mean(off**2))
    share = max(0.0, 1.0 - by_chance / apart) if apart > 0.0 else 0.0
    off *= share * sizes / (sizes + 0.5)
    return dict(zip(names.tolist(), off.tolist(), strict=True)), share * (len(names) - 1), off[place]


def _spread(rest: Array) -> Array:
    """Quantiles of the residuals, wider with few observations and in the tails."""
    count = len(rest)
    spread: Array = np.interp(LEVELS, *_nodes(np.sort(rest))) * (1.0 + 1.5 / count)
    if count < _SHORT:
        return spread + NORMAL * float(_NARROW * (2.0 / (1.0 + count)) ** 0.5)
    # Extends both ends by half the distance from the median to the outer tenth, because one outlier is not a good
    # measure.
    spread[0] -= 0.5 * (spread[STEPS // 2] - spread[STEPS // 10])
    spread[-1] += 0.5 * (spread[-1 - STEPS // 10] - spread[STEPS // 2])
    return spread


def _nodes(ordered: Array) -> tuple[Array, Array]:
    """Levels and values to interpolate the quantiles through.

    A gap separates outliers from usual values. The outliers' range may begin anywhere after the usual values.
    """
    count = len(ordered)
    ranks = (np.arange(count) + 1.0) / (count + 1.0)
    width = float(ordered[count - 1 - count // 10] - ordered[count // 10])
    before = np.flatnonzero(np.diff(ordered) > max(width, _GAP))
    above, below = before[before >= count // 2], before[before < count // 2]
    levels = np.concatenate((ranks, (ranks[above] + ranks[above + 1]) / 2.0, (ranks[below] + ranks[below + 1]) / 2.0))
    values = np.concatenate((ordered, ordered[above] + width / 4.0, ordered[below + 1] - width / 4.0))
    order = np.argsort(levels, kind="stable")
    return levels[order], values[order]


def _with_lone(learned: LearnedTimes, newest: float) -> LearnedTimes:
    """Gives 1/14 of the distribution to a single very odd last time: it may be an accident or the new level."""
    off = newest - learned.level
    spread = learned.spread.copy()
    share = STEPS // 14
    if off > 0:
        spread[-share:] = np.maximum(spread[-share:], off)
    else:
        spread[:share] = np.minimum(spread[:share], off)
    return replace(learned, label=HistoryLabel.CHANGED, spread=spread)


def given(seconds: float) -> Array:
    """The quantiles of a known duration."""
    return np.full(STEPS, seconds)


def pooled(learned: Sequence[LearnedTimes]) -> float:
    """The typical seconds of the items with a history, for items without one."""
    levels = [times.level for times in learned if times.count]
    return exp(median(levels)) - 1.0 if levels else _TYPICAL

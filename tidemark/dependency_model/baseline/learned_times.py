"""How long something takes, or how long after its window's end it arrives, learned from what it took before.

Times are looked at as logarithms: what doubles is as far off as what halves. A level that moves slowly (Theil and Sen's
slope), an effect of each group (weekday; for shorter periods hour and weekday), and the quantiles of what is left;
medians throughout, so that one odd run changes little. Where the level jumps, what was before the jump is forgotten.
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
"""The levels at which quantiles are kept."""
KEPT: Final = 90
"""So many of the newest observations are looked at where there is one a day; of shorter periods three weeks."""
KEPT_OF_HOURS: Final = 3 * 7 * 24
DAY: Final = 86_400.0

_SHORT: Final = 7
_RHYTHM: Final = 14
_JUMP: Final = log(2.5)
_OTHER_CODE: Final = log(1.25)
TO_DEVIATION: Final = 1.4826
"""From the median of distances to a standard deviation."""
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
"""Of a median, over that of a mean of as many."""
NORMAL: Final = np.array([NormalDist().inv_cdf(float(np.clip(level, 0.004, 0.996))) for level in LEVELS])
"""The standard normal distribution at `LEVELS`."""


class HistoryLabel(Enum):
    """What the history is good for: there is none, of fewer than seven times, its level jumped lately, or steady."""

    NONE = "none"
    SHORT = "short"
    CHANGED = "changed"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class Observed:
    """What was measured at an instant (seconds since 1970): `amount` seconds that it took, or rows that there were.

    `groups` are what it is compared by: its weekday, or its hour and its weekday; as many of all of one history.
    `code` is the id of what computed it, empty where nobody told it.
    """

    at: float
    amount: float
    groups: Groups = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class LearnedTimes:
    """A distribution that depends on when: `level` and `spread` (at `LEVELS`) are logarithms, `drift` is a day's."""

    label: HistoryLabel
    count: int
    level: float
    spread: Array
    drift: float = 0.0
    last: float = 0.0
    effects: Sequence[Mapping[int, float]] = ()

    def center(self, at: float, groups: Groups = ()) -> float:
        """The logarithm around which the spread lies at an instant (seconds since 1970)."""
        ahead = min(max((at - self.last) / DAY, 0.0), _FURTHEST) if self.last else 0.0
        center = self.level + self.drift * ahead
        for effects, group in zip(self.effects, groups, strict=False):
            center += effects.get(group, 0.0)
        return center

    def quantiles(self, at: float, groups: Groups = ()) -> Array:
        """Seconds at `LEVELS` for an instant (seconds since 1970)."""
        return _seconds(self.center(at, groups) + self.spread)

    def of_new_code(self) -> LearnedTimes:
        """The same for code that never ran yet: the middle is the best guess, and anything around it."""
        return replace(self, label=HistoryLabel.CHANGED, spread=self.spread + NORMAL * _NARROW) if self.count else self

    def typical(self, at: float, groups: Groups = ()) -> float:
        """The median in seconds."""
        return float(self.quantiles(at, groups)[STEPS // 2])


def stacked_quantiles(asked: Sequence[tuple[LearnedTimes, Groups]], at: float) -> npt.NDArray[np.float32]:
    """The quantiles of many at once, a row each: far cheaper than one by one."""
    logs = np.empty((len(asked), STEPS), np.float32)
    for row, (times, groups) in enumerate(asked):
        np.add(times.spread, times.center(at, groups), out=logs[row], casting="same_kind")
    return _seconds(logs)


def _seconds(logs: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    np.minimum(logs, _LONGEST, out=logs)
    return np.maximum(np.expm1(logs, out=logs), 0, out=logs)


def learn(observations: Sequence[Observed], typical: float = _TYPICAL) -> LearnedTimes:
    """What these observations, in order of time, say; without any, `typical` seconds and anything around it."""
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
    # What was fitted to makes the rest look smaller than what comes next will be: a mean's, and a median's, variance.
    part = min(0.6, (1.0 + has_rhythm + fitted) / count)
    wider = ((1.0 + _MEDIAN_VARIANCE * max(part, 1.0 / _LEVEL)) / (1.0 - part)) ** 0.5
    label = HistoryLabel.SHORT if count < _SHORT else HistoryLabel.STEADY
    label = HistoryLabel.CHANGED if is_changed and count < 2 * _SHORT else label
    return LearnedTimes(label, count, level, _spread((flat - level) * wider), drift, last, effects)


def _in_a_day(kept: Sequence[Observed]) -> int:
    """How many observations there are of each day, about."""
    days = (kept[-1].at - kept[0].at) / DAY
    return max(1, min(24, round((len(kept) - 1) / days))) if days > 1.0 else 1


def _last_jump(logs: Sequence[float], in_a_day: int) -> int:
    """Where the present level begins: two in a row far from what was usual, or a last one very far; 0 where it holds.

    Of a level at least three observations are known before something is far from it.
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
    """The number of the first observation of the present code; 0 where another one is not known."""
    code = next((observed.code for observed in reversed(observations) if observed.code), "")
    others = [number for number, observed in enumerate(observations) if observed.code not in ("", code)]
    return others[-1] + 1 if others else 0


def _lie_apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the medians do, farther than chance sets them (three deviations): other code takes other times."""
    lately = before[-_LOOKED_BACK:]
    usual = median(lately)
    noise = TO_DEVIATION * median(abs(value - usual) for value in lately)
    by_chance = noise * (_MEDIAN_VARIANCE / len(lately) + _MEDIAN_VARIANCE / len(after)) ** 0.5
    return bool(abs(median(after) - usual) > max(_OTHER_CODE, 3.0 * by_chance))


def _is_as_far(off: float, following: float) -> bool:
    return abs(following) > _JUMP and (off > 0) == (following > 0)


def _is_new(logs: Sequence[float], newest: float, off: float, in_a_day: int) -> bool:
    """Whether the level was not there already a week or two before: a slow weekend, or night, is a rhythm, no jump."""
    before = logs[-_LOOKED_BACK * in_a_day :]
    alike = sum(abs(earlier - newest) < abs(off) / 3 for earlier in before)
    return alike * max(7, in_a_day) < len(before)


def _slope(days: Array, logs: Array) -> float:
    """Theil and Sen's: the median of the slopes of all pairs a week apart or more, at most a tenth a day."""
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
    """How far each group's median is from the whole's, how many of these numbers were fitted in effect, and of each.

    All are drawn towards nothing as far as chance alone would set them apart (James and Stein, Estimation with
    quadratic loss, 1961).
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
    """Quantiles of what is left, wider for few observations and in the tails."""
    count = len(rest)
    spread: Array = np.interp(LEVELS, *_nodes(np.sort(rest))) * (1.0 + 1.5 / count)
    if count < _SHORT:
        return spread + NORMAL * float(_NARROW * (2.0 / (1.0 + count)) ** 0.5)
    # Further than ever by as much as nine of ten are from the middle: an odd one is no measure.
    spread[0] -= 0.5 * (spread[STEPS // 2] - spread[STEPS // 10])
    spread[-1] += 0.5 * (spread[-1 - STEPS // 10] - spread[STEPS // 2])
    return spread


def _nodes(ordered: Array) -> tuple[Array, Array]:
    """Levels and values to draw the quantiles through.

    What is far from all others is of another kind, which may begin anywhere after what is usual.
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
    """One very odd time may be an accident or the new level: it gets a fourteenth of the distribution."""
    off = newest - learned.level
    spread = learned.spread.copy()
    share = STEPS // 14
    if off > 0:
        spread[-share:] = np.maximum(spread[-share:], off)
    else:
        spread[:share] = np.minimum(spread[:share], off)
    return replace(learned, label=HistoryLabel.CHANGED, spread=spread)


def given(seconds: float) -> Array:
    """The quantiles of what is known to take so long."""
    return np.full(STEPS, seconds)


def pooled(learned: Sequence[LearnedTimes]) -> float:
    """The typical seconds of what has a history, for what has none."""
    levels = [times.level for times in learned if times.count]
    return exp(median(levels)) - 1.0 if levels else _TYPICAL

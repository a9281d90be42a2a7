"""Baselines: the promised time of a slice, its margin, and the latest start that keeps the promise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.baseline.forecast import quantiles_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.baseline.forecast import Forecast
    from tidemark.dependency_model.baseline.slice_network import Seconds, SliceNetwork

LIKELY: Final = 0.75
CERTAIN: Final = 0.98
LAST_CALL: Final = 50 * 60.0
"""The probability from which a promise is reported as over or at risk. It is CERTAIN while more than LAST_CALL seconds
are left, because much may still change. Afterwards it is LIKELY, because it is the last time to act."""
_LOST: Final = 1e9
BASELINE_CHECK: Final = "baseline"
"""The name of the check that reports the promise of a slice, beside the checks of rules."""


class PromiseState(Enum):
    """The state of a promise: predicted before `ready_by`, actual afterwards."""

    SAFE = "safe"
    AT_RISK = "at risk"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Margin:
    """Instants in seconds after the network's origin, and the probability `late` of a finish after `ready_by`.

    `seconds` is `ready_by` minus the median finish, negative if late.
    """

    ready_by: float
    p50: float
    p90: float
    p99: float
    late: float
    state: PromiseState

    @property
    def seconds(self) -> float:
        return self.ready_by - self.p50


def margin_of(forecast: Forecast, number: int, ready_by: float, alert_margin: float = 0.0) -> Margin:
    """The margin of one slice. `ready_by` is in seconds from now;

    the slice should be there `alert_margin` seconds earlier.
    """
    finish = forecast.finish[number]
    p50, p90, p99 = (float(value) for value in quantiles_of(finish[None, :], (0.5, 0.9, 0.99))[0])
    late = float(np.mean(finish > ready_by))
    close = float(np.mean(finish > ready_by - alert_margin))
    is_close = close >= _needed(ready_by - alert_margin) or p50 > ready_by
    at_risk = PromiseState.AT_RISK if is_close else PromiseState.SAFE
    return Margin(ready_by, p50, p90, p99, late, PromiseState.OVER if late >= _needed(ready_by) else at_risk)


def _needed(seconds_left: float) -> float:
    return CERTAIN if seconds_left > LAST_CALL else LIKELY


def latest_starts(network: SliceNetwork, took: Seconds, promised: Mapping[int, float]) -> Seconds:
    """The latest start of each slice that keeps all promises downstream; infinite if there are none.

    `took` has the seconds of each slice, `promised` instants by number. Limits of pools are ignored.
    """
    finish = np.full(len(network), np.inf)
    for number, instant in promised.items():
        finish[number] = instant
    start = finish - took
    down = network.down
    for first, stop in reversed(list(pairwise(network.levels))):
        numbers = np.flatnonzero(down.bounds[first + 1 : stop + 1] > down.bounds[first:stop]) + first
        if len(numbers):
            places, begins = down.places(numbers)
            needed = np.minimum.reduceat(start[down.others[places]], begins)
            finish[numbers] = np.minimum(finish[numbers], needed)
        start[first:stop] = finish[first:stop] - took[first:stop]
    return start


def turns(network: SliceNetwork, took: Seconds, promised: Mapping[int, float], now: float = 0.0) -> Seconds:
    """The priority of each slice where pools are full: the smallest goes first.

    First come slices that can still keep their promises, by latest start. Then slices whose promises are already
    broken. Last come slices without a promise, the longest chain first.
    """
    latest = latest_starts(network, took, promised)
    count = len(network)
    chain = -latest_starts(network, np.ones(count), dict.fromkeys(range(count), 0.0))
    return np.where(latest >= now, latest, np.where(np.isfinite(latest), _LOST + latest, 2 * _LOST - chain))

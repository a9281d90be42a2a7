"""The chain of slices that decides when a promised slice is there, and the causes of its delay."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.baseline.learned_times import STEPS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tidemark.dependency_model.baseline.forecast import Forecast

USUAL: Final = round(0.9 * (STEPS - 1))
"""The index of the 0.9 quantile. Times up to it are usual."""
_ROOM_SECONDS: Final = 60.0
_LONGER_SECONDS: Final = 60.0


class Cause(Enum):
    """The cause of a late promise. The value completes a sentence that begins with `it`."""

    FAILED_FOR_GOOD = "failed and waits for a person"
    FAILED = "failed and is tried again"
    LATE_INPUT = "has not arrived in its usual time"
    SLOW_RUN = "runs for longer than usual"
    LARGE_INPUT = "reads much more than usual"
    WAITING_FOR_ROOM = "waits for room in its pool"
    WAITING_FOR_PERSON = "waits for a person"
    SLOWER_THAN_PROMISED = "usually takes too long for the promise"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A slice by its number, the cause, and the seconds of delay."""

    number: int
    cause: Cause
    seconds: float


@dataclass(frozen=True, slots=True)
class Troubled:
    """Slices with known trouble, by number. `for_good`: failed and not retried. `held`: waiting for a person.

    `longer`: slices that read much more than usual, and the additional seconds that this typically takes.
    """

    failed: Collection[int] = frozenset()
    for_good: Collection[int] = frozenset()
    held: Collection[int] = frozenset()
    longer: Mapping[int, float] = field(default_factory=dict)


def key_path(forecast: Forecast, number: int) -> list[int]:
    """The slices that decide, first to last. Each step goes to the input that is most often the last one."""
    network = forecast.network
    path = [number]
    while True:
        here = path[-1]
        inputs = network.up.others[network.up.bounds[here] : network.up.bounds[here + 1]]
        if not np.isnan(forecast.durations.running[here]) or not len(inputs):
            break
        finishes = forecast.finish[inputs]
        last = int(np.argmax(np.bincount(np.argmax(finishes, axis=0), minlength=len(inputs))))
        if np.median(finishes[last]) <= network.release[here]:
            break
        path.append(int(inputs[last]))
    return path[::-1]


def deviations(forecast: Forecast, path: Sequence[int], now: float, troubled: Troubled) -> list[Deviation]:
    """The deviations on a key path: failures that need a person or are retried first, then by seconds of delay."""
    told = [deviation for number in path for deviation in _deviations_of(forecast, number, now, troubled)]
    return sorted(told, key=lambda deviation: (list(Cause).index(deviation.cause) > 1, -deviation.seconds))


def _deviations_of(forecast: Forecast, number: int, now: float, troubled: Troubled) -> list[Deviation]:
    durations, network = forecast.durations, forecast.network
    usual = float(durations.tables[durations.row[number], USUAL])
    took = float(np.median(forecast.took[number]))
    if number in troubled.for_good:
        return [Deviation(number, Cause.FAILED_FOR_GOOD, took)]
    if number in troubled.held:
        return [Deviation(number, Cause.WAITING_FOR_PERSON, took)]
    if number in troubled.failed:
        return [Deviation(number, Cause.FAILED, took)]
    begun = network.release[number] if network.pool[number] < 0 else durations.running[number]
    if not np.isnan(begun) and now - begun > usual:
        is_arrival = network.pool[number] < 0
        return [Deviation(number, Cause.LATE_INPUT if is_arrival else Cause.SLOW_RUN, now - begun - usual)]
    wait, longer = float(forecast.wait[number]), troubled.longer.get(number, 0.0)
    told = [Deviation(number, Cause.LARGE_INPUT, longer)] if longer > _LONGER_SECONDS else []
    return [*told, Deviation(number, Cause.WAITING_FOR_ROOM, wait)] if wait > _ROOM_SECONDS else told

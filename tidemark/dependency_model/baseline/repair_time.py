"""The time to rebuild slices and the slices downstream of them, with the pools' limits, beside live work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidemark.dependency_model.baseline.forecast import Forecast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.baseline.forecast import Durations
    from tidemark.dependency_model.baseline.slice_network import SliceNetwork
    from tidemark.dependency_model.graph.edge_stretches import Numbers


@dataclass(frozen=True, slots=True)
class RepairTime:
    """Seconds from now until the last of `slices` slices is there, and the total seconds of work."""

    slices: int
    p50: float
    p90: float
    p99: float
    work: float


def repair_time(network: SliceNetwork, durations: Durations, capacity: Sequence[int], repaired: Numbers) -> RepairTime:
    """The time to rebuild the slices `repaired` (numbers). The network has these slices and the live work."""
    if not len(repaired):
        return RepairTime(0, 0.0, 0.0, 0.0, 0.0)
    forecast = Forecast.of(network, durations, capacity)
    last = forecast.finish[repaired].max(axis=0)
    p50, p90, p99 = (float(value) for value in np.quantile(last, (0.5, 0.9, 0.99)))
    return RepairTime(len(repaired), p50, p90, p99, float(np.median(forecast.took[repaired], axis=1).sum()))

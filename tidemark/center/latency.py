"""Latencies of facts and decisions, as histograms for a metrics registry."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from prometheus_client import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.dependency_model.slice import Slice

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_MAX_RELEASED: Final = 100_000


class Latency:
    """For one center since its start; `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._released: dict[Slice, float] = {}
        self.fact_to_decision = Histogram(
            "tidemark_center_fact_to_decision_seconds",
            "From a reported fact to the durable decisions that follow from it.",
            buckets=_SECONDS,
            registry=None,
        )
        self.decision_to_launch = Histogram(
            "tidemark_center_decision_to_launch_seconds",
            "From the release of a slice to the launch of its run.",
            buckets=_SECONDS,
            registry=None,
        )

    def now(self) -> float:
        """The time for a later `note_decision`."""
        return self._clock()

    def note_decision(self, since: float) -> None:
        """A fact reported at `since` was decided."""
        self.fact_to_decision.observe(self._clock() - since)

    def note_release(self, slice_: Slice) -> None:
        """A slice may be launched from now on."""
        if len(self._released) >= _MAX_RELEASED:  # released long ago and launched by another center
            self._released.clear()
        self._released[slice_] = self._clock()

    def note_launch(self, slices: Iterable[Slice]) -> None:
        """A run of these slices was launched."""
        for slice_ in slices:
            since = self._released.pop(slice_, None)
            if since is not None:
                self.decision_to_launch.observe(self._clock() - since)

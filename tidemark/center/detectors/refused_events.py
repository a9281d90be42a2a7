"""Shows refused external events: on the asset's page, in the log, as an alert.

Each is refused alone, and detectors continue. The list is bounded, and kept only in this process.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_KEPT: Final = 200
_SHOWN: Final = 10
"""Observations for each entity; more would not help."""
_LOGGER: Final = logging.getLogger("tidemark.refused")


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """`why` is one line for display."""

    at: datetime
    entity: str
    source: str
    why: str


class RefusedEvents:
    """The newest refused events, and their total number."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._kept: deque[RefusedEvent] = deque(maxlen=_KEPT)
        self.count = 0

    def refuse(self, instance: dg.DagsterInstance | None, entity: str, source: str, error: Exception) -> None:
        """Add one. `source` describes the event; with an instance, the asset gets an observation."""
        event = RefusedEvent(self._clock(), entity, source, one_line(f"{error}" or type(error).__name__))
        if any((kept.entity, kept.source) == (entity, source) for kept in self._kept):
            return
        self.count += 1
        self._kept.append(event)
        _LOGGER.warning("refused: %s of %s: %s", source, entity, event.why)
        if instance is not None and sum(kept.entity == entity for kept in self._kept) <= _SHOWN:
            observed = dg.AssetObservation(entity, description=f"{source} was refused: {event.why}")
            with suppress(dg.DagsterError):
                instance.report_runless_asset_event(observed)

    def since(self, instant: datetime) -> list[RefusedEvent]:
        """Events refused after an instant, oldest first."""
        return [event for event in list(self._kept) if event.at > instant]

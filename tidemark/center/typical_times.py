"""Typical durations of each entity's slices, from its last runs: cheap enough for every dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.center.baseline.run_history import RunHistory
from tidemark.state_store.timings import newest_timings

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.database import Database

MOST: Final = 500_000
"""Transitions to read at the start, the newest: a large company's day."""


class TypicalTimes:
    """Continues after the last refresh."""

    def __init__(self, graph: DependencyGraph, database: Database) -> None:
        self._history, self._database, self._last = RunHistory(graph, ()), database, 0

    def refresh(self) -> None:
        """Read newer transitions. Raises StateStoreDownError."""
        self._last, told = newest_timings(self._database, self._last, MOST)
        for timing in told:
            self._history.note(timing)

    def seconds(self, entity: str) -> float:
        """The median of its last runs; empty for arriving entities and without history."""
        return self._history.lately(entity)

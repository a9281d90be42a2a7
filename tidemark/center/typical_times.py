"""How long a slice of each entity typically takes, from its last runs: cheap enough for every step of the dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.center.baseline.run_history import RunHistory
from tidemark.state_store.timings import newest_timings

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.database import Database

MOST: Final = 500_000
"""So many transitions are read at the start, the newest: a large company's day."""


class TypicalTimes:
    """Reads on where the last refresh ended."""

    def __init__(self, graph: DependencyGraph, database: Database) -> None:
        self._history, self._database, self._last = RunHistory(graph, ()), database, 0

    def refresh(self) -> None:
        """Take in what was stored since. Raises StateStoreDownError."""
        self._last, told = newest_timings(self._database, self._last, MOST)
        for timing in told:
            self._history.note(timing)

    def seconds(self, entity: str) -> float:
        """The median of its last runs; nothing of what arrives from outside or has no history."""
        return self._history.lately(entity)

"""When runs last told something of slices, where other runs tell something now: by that a late report is known.

Other schedulers, and messages, tell of earlier runs after later ones. A slice keeps its last run alone, so that the
store is asked: only where a report is of another run than that.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from tidemark.center.fact import Fact
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

TOLD_BY_RUNS: Final = frozenset(
    {Event.STARTED, Event.REACHED, Event.COMPLETED, Event.BACKFILLED, Event.FAILED, Event.CANCELLED}
)
NOTHING_BEFORE: Final[Mapping[Slice, datetime]] = MappingProxyType({})


def told_before(facts: Iterable[Fact], runs: Mapping[Slice, str], read: StateReader) -> Mapping[Slice, datetime]:
    """Of the slices of these facts that had another run: when what it told last happened."""
    others = {
        fact.slice
        for fact in facts
        if fact.event in TOLD_BY_RUNS and fact.data.run_id and runs.get(fact.slice) not in (None, fact.data.run_id)
    }
    return read.last_told(others, TOLD_BY_RUNS) if others else NOTHING_BEFORE

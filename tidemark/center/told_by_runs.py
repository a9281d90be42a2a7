"""When runs last told something of slices, where other runs tell something now: by that a late report is known.

Other schedulers, and messages, tell of earlier runs after later ones, and of one run more than once. A slice keeps its
last run alone, so that the store is asked: only where a report is of another run than that, or of one that is over.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from tidemark.center.fact import Fact
    from tidemark.center.in_memory_state import CenterMemory
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Transition

TOLD_BY_RUNS: Final = frozenset(
    {Event.STARTED, Event.REACHED, Event.COMPLETED, Event.BACKFILLED, Event.FAILED, Event.CANCELLED}
)
_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED})
NOTHING_BEFORE: Final[Mapping[Slice, datetime]] = MappingProxyType({})


def told_before(facts: Iterable[Fact], memory: CenterMemory, read: StateReader) -> Mapping[Slice, datetime]:
    """Of the slices of these facts that had another run, or wait for one: when what a run told last happened."""
    told = [(fact.slice, fact.data.run_id) for fact in facts if fact.event in TOLD_BY_RUNS and fact.data.run_id]
    doubtful = {
        slice_ for slice_, run in told if slice_ not in memory.under_way or memory.runs.get(slice_) not in (None, run)
    }
    memory.index.statuses.fetch(doubtful)
    had_one = [slice_ for slice_ in doubtful if slice_ in memory.runs]
    return read.last_told(had_one, TOLD_BY_RUNS) if had_one else NOTHING_BEFORE


def told_again(facts: Iterable[Fact], told: Mapping[Slice, datetime], read: StateReader) -> set[str]:
    """The ids of reports that repeat, under another id, what their run told of a slice that another run has by now."""
    doubtful = [fact for fact in facts if fact.event in TOLD_BY_RUNS and told.get(fact.slice) == fact.event_time]
    return {fact.event_id for fact in doubtful if any(_is_same(step, fact) for step in read.history(fact.slice))}


def _is_same(step: Transition, fact: Fact) -> bool:
    if step.facts.run_id != fact.data.run_id or step.event_time != fact.event_time:
        return False
    return step.event is fact.event or {step.event, fact.event} <= _FINISHED

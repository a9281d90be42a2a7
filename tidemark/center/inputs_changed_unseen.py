"""Finds inputs that got new rows during a run that reports no inputs: a person or another scheduler started it.

A run with a manifest is judged by its manifest (`inputs_changed_during_run.py`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.transition import row_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.center.fact import Fact
    from tidemark.center.in_memory_state import CenterMemory
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

_FINISHED: Final = (Event.COMPLETED, Event.BACKFILLED)


def inputs_changed_unseen(
    graph: DependencyGraph, memory: CenterMemory, read: StateReader, facts: Iterable[Fact]
) -> frozenset[Slice]:
    """The slices whose run ends with these facts and missed rows of an input.

    The store is asked only about slices with an input that has a transition since the start.
    """
    ended = {fact.slice for fact in facts if fact.event in _FINISHED and fact.data.manifest is None}
    return frozenset(slice_ for slice_ in ended if _has_missed_rows(graph, memory, read, slice_))


def is_running_unseen(memory: CenterMemory, slice_: Slice) -> bool:
    """Whether a run of a slice is active, and no report names its inputs."""
    is_under_way = slice_ in memory.under_way and slice_ not in memory.manifests
    return is_under_way and memory.index.status(slice_).run_state is RunState.RUNNING


def inputs_of(graph: DependencyGraph, slice_: Slice) -> Iterator[Slice]:
    """The declared inputs of a slice; none if the project does not have it."""
    with suppress(ParseError):
        yield from (used for requirement in graph.requirements(slice_) for used in requirement.slices)


def _has_missed_rows(graph: DependencyGraph, memory: CenterMemory, read: StateReader, slice_: Slice) -> bool:
    if not is_running_unseen(memory, slice_):
        return False
    version = memory.index.statuses.version
    last = version(slice_) or 0
    later = [used for used in inputs_of(graph, slice_) if (version(used) or 0) > last]
    if not later:
        return False
    begun = max((step.seq for step in read.history(slice_) if step.event is Event.STARTED), default=last)
    return any(step.seq > begun and row_of(step.event).brings_rows for used in later for step in read.history(used))

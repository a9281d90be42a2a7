"""Early reads: readers that ignore quality read slices before they were announced. One query for each commit."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.input_read import InputRead, early_readers
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from tidemark.center.fact import Fact
    from tidemark.center.in_memory_state import CenterMemory
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Transition

_ANNOUNCES: Final = frozenset({Event.QUALITY_PASSED, Event.QUALITY_IGNORED})


def early_reads(
    graph: DependencyGraph, memory: CenterMemory, read: StateReader, facts: Iterable[Fact], until: datetime
) -> frozenset[InputRead]:
    """The reads before these facts, for facts that announce rows.

    A slice that is computed and passes its rules in one commit had no readers, so the store is not asked.
    """
    index, readers = memory.index, set[Slice]()
    announced = [fact.slice for fact in facts if fact.event in _ANNOUNCES and fact.slice.entity in graph]
    index.statuses.fetch(announced)
    for slice_ in announced:
        with suppress(ParseError):  # the fact will be refused
            readers.update(early_readers(graph, slice_, index.status(slice_), until))
    index.statuses.fetch(readers)
    there = [reader for reader in readers if index.status(reader).run_state is RunState.COMPLETED]
    if not there:
        return frozenset()
    return frozenset(input_read for launch in read.launches(there).values() for input_read in _reads(memory, launch))


def _reads(memory: CenterMemory, launch: Transition) -> Iterator[InputRead]:
    """Empty for a launch whose slice another run computed, or without a manifest."""
    manifest = launch.facts.manifest
    if manifest is not None and launch.facts.run_id == memory.runs.get(launch.slice):
        yield from manifest.reads(launch.status.generation)

"""Which inputs a run read, and what follows where they changed while it ran.

A run that began before an input was computed again, or found wrong, ends with a slice that is out of date already.
Those events invalidated what was there, and it was not there yet; so it is reconciled when it ends.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tidemark.dependency_model.status import Event, RunState, SliceStatus
from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.state_store.transition import InputRead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

_UNKNOWN = SliceStatus()


def inputs_read(graph: DependencyGraph, slice_: Slice, state: str, known: KnownStatuses) -> tuple[InputRead, ...]:
    """The input slices of a launch with their generations, stretch by stretch."""
    reads = []
    for requirement in graph.requirements(slice_, state):
        for generation, group in groupby(
            requirement.slices, lambda slice_read: (known.get(slice_read) or _UNKNOWN).generation
        ):
            slices = list(group)
            reads.append(InputRead(str(slices[0]), str(slices[-1]), len(slices), generation))
    return tuple(reads)


def late_events(
    graph: DependencyGraph, slice_: Slice, reads: tuple[InputRead, ...], known: KnownStatuses
) -> Iterator[Event]:
    """What has to happen to a slice that was just computed from these inputs."""
    changed = False
    for slice_read, generation in _slices_read(graph, slice_, reads):
        status = known.get(slice_read) or _UNKNOWN
        if status.issues or status.tainted:
            yield Event.TAINTED
            return
        changed = changed or (status.generation > generation and status.run_state is RunState.COMPLETED)
    if changed:
        event = Event(REPROCESS[graph.entity(slice_.entity).reprocess].changed)
        if event is not Event.KEPT:
            yield event


def _slices_read(graph: DependencyGraph, slice_: Slice, reads: tuple[InputRead, ...]) -> Iterator[tuple[Slice, int]]:
    """Slice by slice; nothing where the declaration changed since, as the stretches then fit no more."""
    slices = [slice_read for requirement in graph.requirements(slice_) for slice_read in requirement.slices]
    generations = [read.generation for read in reads for _ in range(read.slices)]
    if len(slices) == len(generations):
        yield from zip(slices, generations, strict=True)

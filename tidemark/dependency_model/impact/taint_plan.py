"""The slices that a taint marks: some slices, and everything built from their present generation.

The manifests of the runs say which inputs were read (seed capability D5). A slice that read an earlier generation, or
whose run left the slice out, is not marked. Without a manifest the declared graph counts.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status.slice_status import RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

    Read = tuple[Slice, int]
    Place = tuple[str, Sub]

_UNKNOWN: Final = SliceStatus()


@dataclass(frozen=True, slots=True)
class TaintPlan:
    """`marked` slices are to be tainted, each with the input that is the reason (a cause has itself).

    `known` are tainted already. `absent` have no data that could be wrong, or are being computed. `left_alone` are
    downstream in the graph, but were built from something else.
    """

    marked: Mapping[Slice, Slice]
    known: tuple[Slice, ...]
    absent: tuple[Slice, ...]
    left_alone: tuple[Slice, ...]


def taint_plan(
    graph: DependencyGraph,
    causes: Sequence[Slice],
    downstream: Sequence[Slice],
    known: KnownStatuses,
    reads: Mapping[Slice, Sequence[Read] | None],
) -> TaintPlan:
    """The plan for causes and all slices downstream of them in the graph.

    `reads` has the inputs and generations that each slice's last run read; None, or no entry, if they were not
    recorded.
    """
    readers = _readers(graph, causes, downstream, reads)
    because = {cause: cause for cause in causes}
    waiting = deque(causes)
    while waiting:
        wrong = waiting.popleft()
        generation = (known.get(wrong) or _UNKNOWN).generation
        for reader, read in readers.get(wrong, ()):
            if reader not in because and read in (None, generation):
                because[reader] = wrong
                waiting.append(reader)
    return _sorted_out(because, downstream, known)


def _readers(
    graph: DependencyGraph,
    causes: Iterable[Slice],
    downstream: Sequence[Slice],
    reads: Mapping[Slice, Sequence[Read] | None],
) -> Mapping[Slice, Sequence[tuple[Slice, int | None]]]:
    """The readers of each slice and the generation that they read; None if only the graph says so."""
    readers: dict[Slice, list[tuple[Slice, int | None]]] = defaultdict(list)
    concerned: dict[Place, list[Slice]] = defaultdict(list)
    for slice_ in dict.fromkeys((*causes, *downstream)):
        concerned[slice_.entity, slice_.sub].append(slice_)
    for slice_ in downstream:
        told = reads.get(slice_)
        if told is None:
            for needed in _declared(graph, slice_, concerned):
                readers[needed].append((slice_, None))
        else:
            for needed, generation in told:
                readers[needed].append((slice_, generation))
    return readers


def _declared(graph: DependencyGraph, slice_: Slice, concerned: Mapping[Place, Sequence[Slice]]) -> Iterator[Slice]:
    """The inputs that the graph declares. With `or_older` also all older slices in `concerned`."""
    for requirement in graph.requirements(slice_):
        for needed in requirement.slices:
            yield needed
            if requirement.or_older:
                last = graph.window(needed).start
                others = concerned.get((needed.entity, needed.sub), ())
                yield from (other for other in others if graph.window(other).start < last)


def _sorted_out(because: Mapping[Slice, Slice], downstream: Iterable[Slice], known: KnownStatuses) -> TaintPlan:
    marked: dict[Slice, Slice] = {}
    tainted, absent = [], []
    for slice_, cause in because.items():
        status = known.get(slice_) or _UNKNOWN
        if status.run_state is not RunState.COMPLETED:
            absent.append(slice_)
        elif status.tainted:
            tainted.append(slice_)
        else:
            marked[slice_] = cause
    alone = (slice_ for slice_ in downstream if slice_ not in because)
    there = tuple(slice_ for slice_ in alone if (known.get(slice_) or _UNKNOWN).run_state is RunState.COMPLETED)
    return TaintPlan(marked, tuple(tainted), tuple(absent), there)

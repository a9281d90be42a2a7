"""The counters that depend on each slice, so that a changed status updates only these."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tidemark.dependency_model.readiness.newest_slices import NewestSlices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.readiness.missing_inputs_counter import Counter, WaitingSlice
    from tidemark.dependency_model.readiness.newest_slices import Place
    from tidemark.dependency_model.readiness.status_table import StatusTable
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus

K = TypeVar("K")
V = TypeVar("V")


class LatestInput:
    """An input that an older slice can replace: any of its entity and sub-partition up to `ordinal` suffices."""

    __slots__ = ("counter", "is_there", "ordinal", "slice")

    def __init__(self, counter: Counter, slice_: Slice, ordinal: int) -> None:
        self.counter, self.slice, self.ordinal = counter, slice_, ordinal
        self.is_there = False


class Registrations:
    """The inputs of all waiting slices.

    `work` is the number of counted inputs: an input is counted if it is there when a slice begins to wait, and when it
    appears or disappears later. With the least work each input is counted once, so `work` is then the number of edges.
    """

    def __init__(self, graph: DependencyGraph, statuses: StatusTable) -> None:
        self._graph, self._statuses = graph, statuses
        self._exact: dict[Slice, dict[Counter, None]] = {}
        self._latest: dict[Place, dict[LatestInput, None]] = {}
        self._of_counter: dict[Counter, list[LatestInput]] = {}
        self.newest = NewestSlices(graph, statuses)
        self.work = 0

    def add(self, counter: Counter) -> int:
        """Registers the inputs of a clause. Returns the number of inputs that are there."""
        known = self._statuses.get
        there = sum([counter.accepts(known(slice_)) for slice_ in counter.inputs])
        for slice_ in counter.inputs:
            self._exact.setdefault(slice_, {})[counter] = None
        self.work += there
        return there

    def add_latest(self, counter: Counter) -> int:
        """Registers inputs that older slices can replace. Returns the number of inputs that are there."""
        inputs = self._of_counter[counter] = [self._latest_input(counter, slice_) for slice_ in counter.inputs]
        there = sum(latest.is_there for latest in inputs)
        self.work += there
        return there

    def remove(self, counter: Counter) -> None:
        """Removes the inputs of a clause."""
        for latest in self._of_counter.pop(counter, ()):
            _discard(self._latest, _place(latest.slice), latest)
        for slice_ in counter.inputs:
            _discard(self._exact, slice_, counter)

    def tell(self, slice_: Slice, before: SliceStatus | None, after: SliceStatus) -> Iterator[WaitingSlice]:
        """Updates all counters of a slice. Yields the waiting slices with a clause whose result changed."""
        for counter in self._exact.get(slice_, ()):
            self.work += 1
            change = counter.accepts(after) - counter.accepts(before)
            if change and counter.add(change):
                yield counter.waiting
        if slice_.entity in self.newest:
            self.newest.add(slice_)
            yield from self._tell_latest(slice_)

    def _tell_latest(self, slice_: Slice) -> Iterator[WaitingSlice]:
        ordinal = self._graph.node(slice_.entity).ordinal(slice_)
        for latest in self._latest.get(_place(slice_), ()):
            if latest.ordinal < ordinal:
                continue
            self.work += 1
            is_there = self.newest.find(latest.slice, latest.counter.accepts) is not None
            if is_there is not latest.is_there:
                latest.is_there = is_there
                if latest.counter.add(1 if is_there else -1):
                    yield latest.counter.waiting

    def _latest_input(self, counter: Counter, slice_: Slice) -> LatestInput:
        latest = LatestInput(counter, slice_, self._graph.node(slice_.entity).ordinal(slice_))
        latest.is_there = self.newest.find(slice_, counter.accepts) is not None
        self._latest.setdefault(_place(slice_), {})[latest] = None
        return latest


def _place(slice_: Slice) -> Place:
    return slice_.entity, slice_.sub


def _discard(registered: dict[K, dict[V, None]], key: K, value: V) -> None:
    counters = registered.get(key)
    if counters is not None:
        counters.pop(value, None)
        if not counters:
            del registered[key]

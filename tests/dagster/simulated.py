"""What a center tells the grouping, simulated: which slices are complete and which are therefore ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


class SliceTracker:
    """Remembers completions and failures of slices, and asks the graph about the neighbours only."""

    def __init__(self, graph: DependencyGraph, completed: Iterable[Slice] = ()) -> None:
        self._graph = graph
        self._completed: set[Slice] = set()
        self._failed: set[Slice] = set()
        self.in_company: set[str] = set()
        """Keys of runs over several slices in which a step failed: they run one by one from then on."""
        self._touched: dict[Slice, None] = {}
        for slice_ in completed:
            self.complete(slice_)

    @property
    def completed(self) -> frozenset[Slice]:
        """Everything complete so far."""
        return frozenset(self._completed)

    @property
    def failed(self) -> frozenset[Slice]:
        """Slices whose last run failed; they are not offered again."""
        return frozenset(self._failed)

    def complete(self, slice_: Slice) -> None:
        """`slice_` is computed and checked."""
        self._completed.add(slice_)
        self._failed.discard(slice_)
        self._touched.pop(slice_, None)
        for downstream in self._graph.downstream(slice_):
            if downstream not in self._completed:
                self._touched[downstream] = None

    def arrive(self, slice_: Slice) -> None:
        """`slice_` has no upstream here and its data has arrived: it is ready to be checked."""
        if slice_ not in self._completed:
            self._touched[slice_] = None

    def fail(self, slice_: Slice) -> None:
        """The run of `slice_` failed."""
        self._failed.add(slice_)

    def ready(self) -> tuple[Slice, ...]:
        """Slices all of whose inputs are complete, in the order in which they were first touched."""
        return tuple(one for one in self._touched if one not in self._failed and not self.missing(one))

    def waiting(self) -> tuple[Slice, ...]:
        """Slices with some but not all of their inputs."""
        return tuple(one for one in self._touched if one not in self._failed and self.missing(one))

    def missing(self, slice_: Slice) -> tuple[Slice, ...]:
        """The inputs that `slice_` still waits for."""
        needed = (one for clause in self._graph.requirements(slice_) for one in clause.slices)
        return tuple(one for one in needed if one not in self._completed)

    def is_complete(self, slice_: Slice) -> bool:
        """Was `slice_` reported complete?"""
        return slice_ in self._completed

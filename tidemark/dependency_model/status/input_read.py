"""The inputs that slices read, and the readers of a slice whose rows were not announced yet.

Most readers wait until their inputs have passed their rules, and the rows are then announced to them once. A reader
that ignores quality may have read these rows before, so it need not be computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class InputRead(NamedTuple):
    """A generation of a reader was computed from a generation of an input.

    `state` is the state that the input had reached before its last one (`estimated`); empty if it had reached the last.
    """

    reader: Slice
    reader_generation: int
    input: Slice
    generation: int
    state: str


def early_readers(graph: DependencyGraph, slice_: Slice, status: SliceStatus, until: datetime) -> Iterator[Slice]:
    """The downstream slices up to `until` that ignore the quality of a slice, whose rows are about to be announced.

    None for the first rows of a slice, because these are not announced as changed.
    """
    if len(status.states) > 1:
        names = {
            edge.down.name for edge in graph.downstream_edges(slice_.entity) if edge.dependency.quality == "ignore"
        }
        if names:
            yield from (reader for reader in graph.downstream(slice_, until) if reader.entity in names)

"""What a slice was computed from, and who may have read a slice before its rows were announced.

Most readers wait until their inputs have passed their rules, and are told of it once. One that ignores quality may have
read these rows before: it has no reason to be computed again.
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

    `state` is what the input had reached before its last state (`estimated`), empty where that was reached.
    """

    reader: Slice
    reader_generation: int
    input: Slice
    generation: int
    state: str


def early_readers(graph: DependencyGraph, slice_: Slice, status: SliceStatus, until: datetime) -> Iterator[Slice]:
    """The downstream slices that ignore the quality of a slice which is about to be announced, up to `until`.

    None of a slice that is there for the first time: nobody is told of its rows as of other ones.
    """
    if len(status.states) > 1:
        names = {
            edge.down.name for edge in graph.downstream_edges(slice_.entity) if edge.dependency.quality == "ignore"
        }
        if names:
            yield from (reader for reader in graph.downstream(slice_, until) if reader.entity in names)

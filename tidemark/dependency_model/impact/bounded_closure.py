"""All slices downstream of some slices, up to a limit of the answer's size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.impact.closure import downstream_closure
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.impact.closure import Closure
    from tidemark.dependency_model.slice import Slice


def bounded_closure(
    graph: DependencyGraph, slices: Iterable[Slice], until: datetime, most: int | None = None
) -> Closure:
    """Like `downstream_closure`, but counts the slices first. Also raises ParseError for more than `most` slices."""
    reached = downstream_closure(graph, slices, until)
    if most is not None and len(reached) > most:
        raise ParseError(
            "too many slices downstream for one answer",
            expected=f"at most {most:,}",
            found=f"{len(reached):,} of {len(reached.reached):,} entities",
            hint="ask for fewer slices, or use an earlier until; the command line has no such limit",
        )
    return reached

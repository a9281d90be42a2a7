"""The reasons why a slice is invalid or held: the slices whose broken rules affect it or its inputs (C9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.readiness.earliest_time import earliest
from tidemark.dependency_model.readiness.overview import missing_inputs
from tidemark.dependency_model.status.flaws import flaws

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.dependency_model.slice import Slice

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Invalidity:
    """`causes` are the slices whose rules are broken; empty for a taint that a user set."""

    why: str
    causes: tuple[Slice, ...]


def invalidity(graph: DependencyGraph, slice_: Slice, known: KnownSlices, now: datetime) -> Invalidity | None:
    """None for a slice that is valid, does not wait for an invalid one, or whose earliest time has not come.

    Raises ParseError and UnknownEntityError.
    """
    status = known.status(slice_)
    if status.is_flawed:
        return Invalidity("; ".join(flaws(slice_, status)), _in_order(status.issues))
    if earliest(graph.entity(slice_.entity), graph.window(slice_)) > now:
        return None
    forgiven = graph.forgiven_flags(slice_)
    inputs = {input_: known.status(input_) for input_ in missing_inputs(graph, slice_, known, now)}
    flawed = {input_: status for input_, status in inputs.items() if status.is_flawed_beyond(forgiven)}
    if not flawed:
        return None
    told = [f"it waits for {input_}: {', '.join(flaws(input_, status))}" for input_, status in flawed.items()]
    more = [f"and for {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    causes = {cause for status in flawed.values() for cause in status.issues}
    return Invalidity("; ".join([*told[:_SHOWN], *more]), _in_order(causes))


def _in_order(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    return tuple(sorted(slices, key=str))

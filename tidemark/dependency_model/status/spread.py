"""Where an event goes on from a slice: to its parts, to the wholes it is part of, to those that used it.

Entities of one `series` hold the same data by different periods: the five minutes, the ten minutes, the hour, the day.
A failed hour greys the windows inside it and the aggregates around it (seed capability C9); a flag carries the slice
that raised it, so it is lifted everywhere, and only there, when that slice is good again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.entity import Reprocess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


class To(Enum):
    """Where to."""

    PARTS = "the slices of its series inside its window"
    WHOLES = "the slices of its series around its window"
    USERS = "the slices that were computed from it"


BY_POLICY = "by policy"
"""For users that are tainted, and for all of a backfilled slice: what each one's `reprocess` says."""


@dataclass(frozen=True, slots=True)
class Spread:
    """An event there for an event here."""

    to: To
    event: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The event for a user once its input is good again: where the input's content changed, and where it did not."""

    changed: str
    unchanged: str
    meaning: str


REPROCESS: dict[Reprocess, Policy] = {
    Reprocess.ALWAYS: Policy("backfill_requested", "backfill_requested", "computed again in any case"),
    Reprocess.IF_CHANGED: Policy("backfill_requested", "kept", "computed again where the input's content differs"),
    Reprocess.NEVER: Policy("kept", "kept", "kept as it is"),
    Reprocess.ASK: Policy("tainted", "kept", "tainted until someone decides, where the input's content differs"),
}


def targets(graph: DependencyGraph, piece: Slice, to: To, until: datetime) -> Iterator[Slice]:
    """The slices that a spread reaches; users only as far as `until`, and none of its own series: those are flagged."""
    series = graph.series_of(piece.entity)
    if to is To.USERS:
        yield from (user for user in graph.downstream(piece, until) if user.entity not in series)
        return
    period = graph.entity(piece.entity).period
    for name in series:
        other = graph.entity(name).period
        if period is None or other is None or other is period:
            continue
        is_part = other.is_finer_than(period)
        if is_part == (to is To.PARTS):
            yield from graph.slices_within(name, graph.window(piece), piece.sub)

"""Where an event goes on from a slice: to the slices of its series inside and around its window, and downstream.

Entities of one `series` hold the same data by different periods: the five minutes, the ten minutes, the hour, the day.
A failed hour invalidates the windows inside it and the aggregates around it (seed capability C9). A flag carries the
slice that raised it, so it is lifted everywhere, and only there, when that slice is good again.
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
    """Which slices an event reaches."""

    INSIDE = "the slices of its series inside its window"
    AROUND = "the slices of its series around its window"
    DOWNSTREAM = "the slices that were computed from it"
    USERS = "the slices that were computed from it, but for those of its series"


BY_POLICY = "by policy"
"""What `reprocess` says: for tainted and partial downstream slices, all of a backfilled slice's, and all that took a
slice in a state before the one that it has reached."""


@dataclass(frozen=True, slots=True)
class Spread:
    """An event there for an event here."""

    to: To
    event: str


@dataclass(frozen=True, slots=True)
class ReprocessPolicy:
    """The event for a downstream slice once its input is good again: with changed content, and with unchanged."""

    changed: str
    unchanged: str
    meaning: str


REPROCESS: dict[Reprocess, ReprocessPolicy] = {
    Reprocess.ALWAYS: ReprocessPolicy("backfill_requested", "backfill_requested", "computed again in any case"),
    Reprocess.IF_CHANGED: ReprocessPolicy(
        "backfill_requested", "kept", "computed again if the input's content differs"
    ),
    Reprocess.NEVER: ReprocessPolicy("kept", "kept", "kept"),
    Reprocess.ASK: ReprocessPolicy("tainted", "kept", "tainted until a person decides, if the input's content differs"),
}


def targets(graph: DependencyGraph, slice_: Slice, to: To, until: datetime) -> Iterator[Slice]:
    """The slices that a spread reaches; downstream only as far as `until`."""
    if to is To.DOWNSTREAM:
        yield from graph.downstream(slice_, until)
    elif to is To.USERS:
        series = graph.series_of(slice_.entity)
        yield from (down for down in graph.downstream(slice_, until) if down.entity not in series)
    else:
        yield from graph.series_slices(slice_, "inside" if to is To.INSIDE else "around")

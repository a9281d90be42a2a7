"""The slices to which an event spreads: the series inside and around its window, and downstream.

Entities of one `series` hold the same data by different periods: 5 minutes, 10 minutes, hour, day. A failed hour
invalidates the windows inside it and the aggregates around it (seed capability C9). A flag names the slice that raised
it. It is removed everywhere when that slice is valid again.
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
    """The slices that an event reaches."""

    INSIDE = "the slices of its series inside its window"
    AROUND = "the slices of its series around its window"
    DOWNSTREAM = "the slices that were computed from it"
    USERS = "the slices that were computed from it, but for those of its series"


BY_POLICY = "by policy"
"""The effect depends on `reprocess`. It applies to tainted and partial downstream slices, to all downstream slices of a
backfilled slice, and to all that read a slice in an earlier state than the present one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """An event of other slices that follows from an event of a slice."""

    to: To
    event: str


@dataclass(frozen=True, slots=True)
class ReprocessPolicy:
    """The event of a downstream slice once its input is valid again, with changed and with unchanged content."""

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
    """The slices that a spread reaches; downstream only up to `until`."""
    if to is To.DOWNSTREAM:
        yield from graph.downstream(slice_, until)
    elif to is To.USERS:
        series = graph.series_of(slice_.entity)
        yield from (down for down in graph.downstream(slice_, until) if down.entity not in series)
    else:
        yield from graph.series_slices(slice_, "inside" if to is To.INSIDE else "around")

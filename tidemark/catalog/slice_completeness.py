"""The numbers of records of slices, from the counts in the state store (C4), with one query for a page.

An entity is counted if its probe compares counts, or if it declares `completeness`. `tidemark completeness` shows the
open slots of one slice.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.completeness.roll_up import SlotGrid
from tidemark.dependency_model.completeness.slot import Slot
from tidemark.dependency_model.entity.probe import CountsProbe
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database

_MINUTE: Final = 60


@dataclass(frozen=True)
class SliceCompleteness:
    """Records of all slots that overlap the slice. Slots that are not complete are open."""

    source: int
    lake: int
    slots: int
    open_slots: int

    @property
    def is_complete(self) -> bool:
        """Whether every slot is complete."""
        return not self.open_slots


class Minutes(NamedTuple):
    """`[first, end)` in minutes since 1970, at bounds of slots."""

    first: int
    end: int


def counted_by(entity: Entity) -> CountsProbe | None:
    """The counts, and the required share, for an entity's completeness; None if it is not counted."""
    if entity.probe is not None and entity.probe.counts is not None:
        return entity.probe.counts
    return CountsProbe(of=entity.name) if entity.completeness is not None else None


def slice_completeness(
    graph: DependencyGraph, database: Database, slices: Sequence[Slice]
) -> dict[Slice, SliceCompleteness]:
    """The completeness of slices of one entity; empty if it is not counted. Raises StateStoreDownError."""
    declared = counted_by(graph.entity(slices[0].entity)) if slices else None
    if declared is None or graph.node(slices[0].entity).grid is None:
        return {}
    grid, counts = SlotGrid(declared.slot_minutes, declared.phase), RecordCounts(database)
    spans = {slice_: span for slice_ in slices if (span := _minutes(graph, grid, slice_)) is not None}
    if not spans:
        return {}
    around = Minutes(min(span.first for span in spans.values()), max(span.end for span in spans.values()))
    sums = counts.by_slot(declared.of, around, declared.slot_minutes, declared.phase)
    told = [Slot(start, start + grid.minutes, *sums[start]) for start in sorted(sums)]
    final = counts.final_until(declared.of)
    return {slice_: _judged(told, span, grid, final, declared.share) for slice_, span in spans.items()}


def minutes_of(graph: DependencyGraph, slice_: Slice) -> Minutes | None:
    """The minutes of all slots that overlap a slice; None if it is not counted or has another period."""
    declared = counted_by(graph.entity(slice_.entity))
    return None if declared is None else _minutes(graph, SlotGrid(declared.slot_minutes, declared.phase), slice_)


def _minutes(graph: DependencyGraph, grid: SlotGrid, slice_: Slice) -> Minutes | None:
    try:
        window = graph.window(slice_)
    except ParseError:  # a key of another period, from before the entity was changed
        return None
    first = grid.slot(seconds_of(window.start) // _MINUTE)
    return Minutes(first.start, grid.slot(seconds_of(window.end) // _MINUTE - 1).end)


def _judged(told: Sequence[Slot], span: Minutes, grid: SlotGrid, final: int, at_least: Fraction) -> SliceCompleteness:
    """A slot is complete once its counts are final and the lake agrees. A slot without counts had no records."""
    own = told[bisect_left(told, span.first, key=_start) : bisect_left(told, span.end, key=_start)]
    number = (span.end - span.first) // grid.minutes
    closed = min(max((final - span.first) // grid.minutes, 0), number)
    wrong = sum(slot.end <= final and not slot.agrees(at_least) for slot in own)
    source, lake = sum(slot.source for slot in own), sum(slot.lake for slot in own)
    return SliceCompleteness(source, lake, number, number - closed + wrong)


def _start(slot: Slot) -> int:
    return slot.start

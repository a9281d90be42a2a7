"""Finds late counts: a slice that was complete by its counts is incomplete again, and is requested again (C4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.center.fact import Fact
from tidemark.dependency_model.completeness.roll_up import SlotGrid
from tidemark.dependency_model.completeness.slot import LateCounts
from tidemark.dependency_model.status import Event, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.record_counts import RecordCounts

CURSOR: Final = "record counts"
_AT_ONCE: Final = 10_000
_FINEST: Final = 5
"""Minutes of the shortest period."""


class LateCountsDetector:
    """Reads new reports of counts. `look` compares the counts of a slice."""

    def __init__(
        self, counts: RecordCounts, center: DependencyCenter, read: StateReader, look: Callable[[Slice], Sight]
    ) -> None:
        self._counts, self._center, self._read, self._look = counts, center, read, look

    def poll(self) -> int:
        """Request incomplete slices again; returns the number of facts with an effect."""
        entities = [name for name in self._center.graph if self._restates(name)]
        if not entities:
            return 0
        before = int(self._read.cursor(CURSOR) or 0)
        reported = self._counts.reported_after(before, _AT_ONCE)
        if not reported:
            return 0
        touched = {slice_: None for _, name, minute in reported for slice_ in self._slices(entities, name, minute)}
        facts = list(self._facts(touched))
        return self._center.report(facts, cursors={CURSOR: str(_whole(reported))}).new

    def _restates(self, name: str) -> bool:
        probe = self._center.graph.entity(name).probe
        return probe is not None and probe.counts is not None and probe.counts.late is LateCounts.RESTATE

    def _slices(self, entities: list[str], name: str, minute: int) -> Iterator[Slice]:
        """Slices that overlap the slot of a minute."""
        graph = self._center.graph
        for entity in entities:
            probe = graph.entity(entity).probe
            if probe is None or probe.counts is None or probe.counts.of != name:
                continue
            slot = SlotGrid(probe.counts.slot_minutes, probe.counts.phase).slot(minute)
            for at in (*range(slot.start, slot.end, _FINEST), slot.end - 1):
                slice_ = graph.slice_at(entity, datetime.fromtimestamp(at * 60, UTC))
                if graph.exists(slice_):
                    yield slice_

    def _facts(self, slices: dict[Slice, None]) -> Iterator[Fact]:
        now = datetime.now(UTC)
        for slice_ in slices:
            status = self._center.status(slice_)
            if status.run_state is not RunState.COMPLETED:
                continue
            sight = self._look(slice_)
            if not sight.is_there:
                event_id = f"counts:{slice_}:{status.generation}"
                yield Fact(event_id, slice_, Event.BACKFILL_REQUESTED, now, "counts", f"late counts: {sight.why}")


def _whole(reported: list[tuple[int, str, int]]) -> int:
    """The last report up to which everything was read."""
    last, first = reported[-1][0], reported[0][0]
    return last - 1 if len(reported) == _AT_ONCE and last > first else last

"""The slow, obvious readiness index: every candidate slice is asked, every time, whether its clauses release it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.readiness import earliest, release
from tidemark.dependency_model.status import Event, RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


class ReferenceIndex:
    """Holds statuses and the time; knows nothing else between two questions."""

    def __init__(self, graph: DependencyGraph, since: datetime, now: datetime) -> None:
        self.graph, self.since, self.now = graph, since, now
        self.statuses: dict[Slice, SliceStatus] = {}

    def status(self, slice_: Slice) -> SliceStatus:
        return self.statuses.get(slice_) or SliceStatus()

    def newest(self, slice_: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        end = self.graph.window(slice_).end
        result = [
            (self.graph.window(other).end, other)
            for other, status in self.statuses.items()
            if other[::2] == slice_[::2] and accepts(status)
        ]
        return max(((ended, other) for ended, other in result if ended <= end), default=(None, None))[1]

    def expected_changes(self) -> dict[Slice, tuple[Event, str, bool]]:
        """What has to change: the event, the state that the slice is to reach, whether it goes on without something."""
        result = {}
        for slice_ in set(self._candidates()):
            status = self.status(slice_)
            state = next((s for s in self.graph.entity(slice_.entity).state_names if s not in status.states), None)
            if state is None or status.run_state not in (RunState.WAITING, RunState.READY):
                continue
            not_before = earliest(self.graph.entity(slice_.entity), self.graph.window(slice_))
            released = release(self.graph.requirements(slice_, state), self, not_before, self.now)
            if released.is_released and status.run_state is RunState.WAITING:
                result[slice_] = (Event.RELEASED, state, released.partial)
            elif not released.is_released and status.run_state is RunState.READY:
                result[slice_] = (Event.WITHDRAWN, state, False)
        return result

    def _candidates(self) -> Iterator[Slice]:
        """Scheduled slices from `since` to now, and those that someone asked for."""
        for name in self.graph:
            entity = self.graph.entity(name)
            for sub in {WHOLE, *self.graph.node(name).subs}:
                if not _starts_by_itself(entity, sub):
                    continue
                slice_ = self.graph.slice_at(name, self.since, sub)
                while self.graph.window(slice_).end <= self.now:
                    if self.graph.exists(slice_):
                        yield slice_
                    slice_ = self.graph.slice_at(name, self.graph.window(slice_).end, sub)
        for slice_, status in self.statuses.items():
            if slice_.entity not in self.graph or not _starts_by_itself(self.graph.entity(slice_.entity), slice_.sub):
                continue
            is_released = status.run_state is RunState.READY and self.graph.window(slice_).end > self.since
            if self.graph.exists(slice_) and (is_released or status.generation > 1):
                yield slice_


def _starts_by_itself(entity: Entity, sub: Sub) -> bool:
    if entity.kind.value == "Virtual":
        return bool(entity.sub_partitions) and sub == WHOLE
    return entity.period is not None and not entity.source and not entity.snapshot_of

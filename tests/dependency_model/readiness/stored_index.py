"""A store in memory: what an index has noted, and the archive that it starts again from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.readiness.cold_statuses import KnownSlice
from tidemark.dependency_model.readiness.schedule import ScheduleProgress
from tidemark.dependency_model.status import RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.readiness.checkpoint import Checkpoint
    from tidemark.dependency_model.slice import Slice

_CLOSED = (RunState.COMPLETED, RunState.ABSENT)


class StoredIndex:
    """`known` is what is stored of each slice to which something has happened."""

    def __init__(self) -> None:
        self.floor = ""
        self.known: dict[Slice, tuple[SliceStatus, int]] = {}
        self.progress = ScheduleProgress()
        self._waiting: set[Slice] = set()

    def note(self, checkpoint: Checkpoint) -> None:
        assert self._waiting.isdisjoint(checkpoint.waiting)
        self._waiting.update(checkpoint.waiting)
        schedules = {k: v for k, v in {**self.progress.schedules, **checkpoint.schedules}.items() if v}
        self.progress = ScheduleProgress(checkpoint.until if checkpoint.is_last else self.progress.until, schedules)

    def forget(self, entity: str) -> None:
        """The entity is as if it were new."""
        self._waiting = {slice_ for slice_ in self._waiting if slice_.entity != entity}
        others = {name: text for name, text in self.progress.schedules.items() if name != entity}
        self.progress = ScheduleProgress(self.progress.until, others)

    def load(self) -> list[KnownSlice]:
        """What a start reads."""
        return [
            known
            for known in self._all()
            if known.slice.key >= self.floor or known.status.run_state not in _CLOSED or known.status.tainted
        ]

    def fetch(self, slices: Collection[Slice]) -> list[KnownSlice]:
        assert all(slice_.key < self.floor for slice_ in slices)
        return [known for known in self._all() if known.slice in slices]

    def older(self, places: Collection[tuple[str, Sub]], before: str, limit: int) -> Iterator[KnownSlice]:
        for entity, sub in places:
            result = [known for known in self._all() if known.slice.entity == entity and known.slice.sub == sub]
            earlier = [known for known in result if known.slice.key < before]
            yield from sorted(earlier, key=lambda known: known.slice.key, reverse=True)[:limit]

    def _all(self) -> Iterator[KnownSlice]:
        yield from (KnownSlice(slice_, *told) for slice_, told in self.known.items())
        yield from (KnownSlice(slice_, SliceStatus(), 0) for slice_ in self._waiting if slice_ not in self.known)

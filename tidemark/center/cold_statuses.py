"""The state store as the archive of a readiness index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.readiness.cold_statuses import KnownSlice

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Current


class StoredArchive:
    """`runs` gets the last run of each read slice, `unreadable` the errors of rows."""

    def __init__(self, read: StateReader, floor: str, runs: dict[Slice, str], unreadable: dict[Slice, str]) -> None:
        self.floor = floor
        self._read, self._runs, self._unreadable = read, runs, unreadable

    def fetch(self, slices: Collection[Slice]) -> Iterable[KnownSlice]:
        return self._known(self._read.currents(slices))

    def older(self, places: Collection[tuple[str, Sub]], before: str, limit: int) -> Iterable[KnownSlice]:
        return self._known(self._read.older(places, before, limit))

    def _known(self, currents: list[Current]) -> Iterator[KnownSlice]:
        for current in currents:
            if current.run_id:
                self._runs.setdefault(current.slice, current.run_id)
            if current.unreadable:
                self._unreadable[current.slice] = current.unreadable
            yield KnownSlice(current.slice, current.status, current.seq)

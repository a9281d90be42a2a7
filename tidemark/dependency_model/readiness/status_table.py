"""The statuses of slices in memory, and an archive that is asked for each other slice once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.readiness.cold_statuses import Archive
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class StatusTable:
    """Iteration covers the slices in memory."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._floor = archive.floor
        self._statuses: dict[Slice, SliceStatus] = {}
        self._versions: dict[Slice, int] = {}
        self._asked: set[Slice] = set()

    def __len__(self) -> int:
        return len(self._statuses)

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._statuses)

    def __contains__(self, slice_: object) -> bool:
        return slice_ in self._statuses

    @property
    def is_whole(self) -> bool:
        """Whether all slices are in memory."""
        return not self._floor

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The status of a slice; None if it is unknown."""
        status = self._statuses.get(slice_)
        if status is None and slice_.key < self._floor and slice_ not in self._asked:
            self.fetch((slice_,))
            status = self._statuses.get(slice_)
        return status

    def version(self, slice_: Slice) -> int | None:
        """The number of the transition of a status in memory."""
        return self._versions.get(slice_)

    def set(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """Sets the status of a slice."""
        self._statuses[slice_], self._versions[slice_] = status, version

    def add(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """Adds a status from the archive, unless memory has a status of the slice."""
        if slice_ not in self._statuses:
            self.set(slice_, status, version)

    def fetch(self, slices: Iterable[Slice]) -> None:
        """Asks the archive for all of these that it may have, with one call."""
        floor, known, asked = self._floor, self._statuses, self._asked
        wanted = {slice_ for slice_ in slices if slice_.key < floor and slice_ not in known and slice_ not in asked}
        if wanted:
            asked |= wanted
            for entry in self.archive.fetch(wanted):
                self.add(*entry)

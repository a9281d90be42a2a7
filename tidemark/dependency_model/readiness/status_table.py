"""The statuses of slices: those in memory, and behind them an archive that is asked for a slice once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.readiness.cold_statuses import Archive
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class StatusTable:
    """Iterates over what is in memory."""

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
        """Whether all there is lies in memory."""
        return not self._floor

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The status of a slice; None where nothing is known of it."""
        status = self._statuses.get(slice_)
        if status is None and slice_.key < self._floor and slice_ not in self._asked:
            self.fetch((slice_,))
            status = self._statuses.get(slice_)
        return status

    def version(self, slice_: Slice) -> int | None:
        """The number of the transition that a status in memory is of."""
        return self._versions.get(slice_)

    def set(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """What a slice is now."""
        self._statuses[slice_], self._versions[slice_] = status, version

    def add(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """What the archive says of a slice; memory knows better."""
        if slice_ not in self._statuses:
            self.set(slice_, status, version)

    def fetch(self, slices: Iterable[Slice]) -> None:
        """Ask the archive at once for all of these that may be there."""
        floor, known, asked = self._floor, self._statuses, self._asked
        wanted = {slice_ for slice_ in slices if slice_.key < floor and slice_ not in known and slice_ not in asked}
        if wanted:
            asked |= wanted
            for entry in self.archive.fetch(wanted):
                self.add(*entry)

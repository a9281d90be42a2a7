"""The statuses of slices: those in memory, and behind them an archive that is asked for a slice once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.readiness.archive import Archive
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

    def __contains__(self, piece: object) -> bool:
        return piece in self._statuses

    @property
    def is_whole(self) -> bool:
        """Whether all there is lies in memory."""
        return not self._floor

    def get(self, piece: Slice, /) -> SliceStatus | None:
        """The status of a slice; None where nothing is known of it."""
        found = self._statuses.get(piece)
        if found is None and piece.key < self._floor and piece not in self._asked:
            self.fetch((piece,))
            found = self._statuses.get(piece)
        return found

    def version(self, piece: Slice) -> int | None:
        """The number of the transition that a status in memory is of."""
        return self._versions.get(piece)

    def set(self, piece: Slice, status: SliceStatus, version: int) -> None:
        """What a slice is now."""
        self._statuses[piece], self._versions[piece] = status, version

    def add(self, piece: Slice, status: SliceStatus, version: int) -> None:
        """What the archive says of a slice; memory knows better."""
        if piece not in self._statuses:
            self.set(piece, status, version)

    def fetch(self, pieces: Iterable[Slice]) -> None:
        """Ask the archive at once for all of these that may be there."""
        floor, known, asked = self._floor, self._statuses, self._asked
        wanted = {piece for piece in pieces if piece.key < floor and piece not in known and piece not in asked}
        if wanted:
            asked |= wanted
            for one in self.archive.fetch(wanted):
                self.add(*one)

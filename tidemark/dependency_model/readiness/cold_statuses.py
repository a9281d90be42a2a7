"""The interface to slices that are not in memory, so that a restart need not load them.

Keys are times as text, so one text divides them. Slices whose keys sort at or after `floor` are in memory, and so are
all open slices. Older ones are read when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class KnownSlice(NamedTuple):
    """A slice's status after its transition number `version`; 0 if it only waits."""

    slice: Slice
    status: SliceStatus
    version: int


class Archive(Protocol):
    """All known slices."""

    @property
    def floor(self) -> str:
        """The key from which on all slices are in memory; empty if all slices are."""

    def fetch(self, slices: Collection[Slice]) -> Iterable[KnownSlice]:
        """The known slices among these."""

    def older(self, places: Collection[tuple[str, Sub]], before: str, limit: int) -> Iterable[KnownSlice]:
        """The last slices of each entity and sub-partition whose keys sort before a text, at most `limit` each."""


class EmptyArchive:
    """The archive of an index with all slices in memory."""

    floor = ""

    def fetch(self, slices: Collection[Slice]) -> Iterable[KnownSlice]:  # noqa: ARG002 - the protocol's
        return ()

    def older(
        self,
        places: Collection[tuple[str, Sub]],  # noqa: ARG002
        before: str,  # noqa: ARG002
        limit: int,  # noqa: ARG002
    ) -> Iterable[KnownSlice]:
        return ()

"""Where slices are known that are not in memory: what an index that starts again leaves where it is.

Keys are times as text, so that one text divides them: what sorts at or after `floor` is in memory, with all that is
open, however old; what sorts before it is asked for when somebody needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


class KnownSlice(NamedTuple):
    """A slice's status after its transition number `version`; 0 where nothing has happened but waiting."""

    slice: Slice
    status: SliceStatus
    version: int


class Archive(Protocol):
    """All slices that anything is known of."""

    @property
    def floor(self) -> str:
        """The key from which on everything is in memory; the empty text where all is."""

    def fetch(self, slices: Collection[Slice]) -> Iterable[KnownSlice]:
        """Those of the slices that anything is known of."""

    def older(self, places: Collection[tuple[str, Sub]], before: str, limit: int) -> Iterable[KnownSlice]:
        """Of each entity and sub-partition the last slices whose keys sort before a text, at most `limit` of each."""


class EmptyArchive:
    """Where all is in memory."""

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

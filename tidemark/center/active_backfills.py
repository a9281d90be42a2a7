"""Active backfills for the center: whether a backfill decides about a slice, and whether the slice may be launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.backfill.backfill import is_held

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidemark.dependency_model.backfill import Backfill
    from tidemark.dependency_model.slice import Slice


class ActiveBackfills:
    """The active backfills by number. The set is replaced as a whole, so other threads see the old or the new one."""

    def __init__(self) -> None:
        self.all: Sequence[Backfill] = ()
        self._by_slice: dict[Slice, list[Backfill]] = {}

    def replace(self, backfills: Iterable[Backfill]) -> None:
        """Replace all active backfills."""
        ordered = sorted(backfills, key=lambda backfill: backfill.number)
        by_slice: dict[Slice, list[Backfill]] = {}
        for backfill in ordered:
            for slice_ in backfill.plan.members:
                by_slice.setdefault(slice_, []).append(backfill)
        self._by_slice, self.all = by_slice, ordered

    def decides(self, slice_: Slice, reader: Slice) -> bool:
        """Whether a backfill, and not a policy, decides about a reader of a slice."""
        return any(backfill.decides(slice_, reader) for backfill in self._by_slice.get(reader, ()))

    def is_held(self, slice_: Slice) -> bool:
        """Whether a ready slice must wait for its turn in a backfill."""
        return is_held(self._by_slice.get(slice_, ()), slice_)

    def number_of(self, slice_: Slice) -> int | None:
        """The first backfill that has requested a slice; None if the schedule or a policy requested it."""
        return next((own.number for own in self._by_slice.get(slice_, ()) if slice_ in own.requested), None)

    def holder(self, slice_: Slice, below: int) -> int | None:
        """The first backfill before `below` that has not finished a slice."""
        earlier = (own.number for own in self._by_slice.get(slice_, ()) if own.number < below and own.is_open(slice_))
        return next(earlier, None)

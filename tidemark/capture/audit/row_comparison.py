"""Which rows of a look are different for certain, and which only seem so (the room's docstring says why)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class DifferenceKind(StrEnum):
    """What a row in the lake is, compared with the source."""

    MISSING = "missing in the lake"
    EXTRA = "only in the lake"
    DOUBLED = "more than once in the lake"
    DIFFERS = "other values"


class LakeRow(NamedTuple):
    """A row's text, and the offset of the last change of it."""

    text: str
    offset: int


LakeRows = Mapping[str, Sequence[LakeRow]]


@dataclass(frozen=True)
class RowLook:
    """The same rows on both sides, key's text -> row's, capture having read up to `since` before the source was.

    `deleted` are the keys of rows that the topic says were deleted from `since` on; None where nobody knows.
    """

    since: int
    source: Mapping[str, str]
    lake: LakeRows
    deleted: Collection[str] | None = field(default=())

    @property
    def changing(self) -> frozenset[str]:
        """The keys of which this look says nothing."""
        merged = {key for key, rows in self.lake.items() if any(row.offset >= self.since for row in rows)}
        missing = {key for key in self.source if key not in self.lake}
        return frozenset(merged | (missing if self.deleted is None else missing.intersection(self.deleted)))

    def differences(self) -> dict[str, DifferenceKind]:
        """The rows that differ, by key: twice in a row they are findings."""
        changing = self.changing
        kinds = {key: self._kind(key) for key in {*self.source, *self.lake} if key not in changing}
        return {key: kind for key, kind in sorted(kinds.items()) if kind is not None}

    def _kind(self, key: str) -> DifferenceKind | None:
        source, lake = self.source.get(key), self.lake.get(key, ())
        if not lake:
            return DifferenceKind.MISSING
        if source is None:
            return DifferenceKind.EXTRA
        if len(lake) > 1:
            return DifferenceKind.DOUBLED
        return None if lake[0].text == source else DifferenceKind.DIFFERS


def confirmed(before: Mapping[str, DifferenceKind], now: Mapping[str, DifferenceKind]) -> dict[str, DifferenceKind]:
    """The rows that two looks, one after the other, find different in the same way."""
    return {key: kind for key, kind in now.items() if before.get(key) is kind}

"""Separates rows that really differ from rows that are still changing (the package's docstring explains why)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class DifferenceKind(StrEnum):
    """How a row in the lake differs from the source."""

    MISSING = "missing in the lake"
    EXTRA = "only in the lake"
    DOUBLED = "more than once in the lake"
    DIFFERS = "other values"


class LakeRow(NamedTuple):
    """A row's text, and the offset of its last change."""

    text: str
    offset: int


LakeRows = Mapping[str, Sequence[LakeRow]]


@dataclass(frozen=True)
class RowLook:
    """The same rows on both sides, as row text by key text. Capture had read up to `since` before the source was read.

    `deleted` are keys of rows that the topic deletes from `since` on; None if unknown.
    """

    since: int
    source: Mapping[str, str]
    lake: LakeRows
    deleted: Collection[str] | None = field(default=())

    @property
    def changing(self) -> frozenset[str]:
        """The keys that this look cannot judge, because their rows may be changing."""
        merged = {key for key, rows in self.lake.items() if any(row.offset >= self.since for row in rows)}
        missing = {key for key in self.source if key not in self.lake}
        return frozenset(merged | (missing if self.deleted is None else missing.intersection(self.deleted)))

    def differences(self) -> dict[str, DifferenceKind]:
        """The kind of difference by key. A row that two consecutive looks report becomes a finding."""
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
    """The rows that two consecutive looks report with the same kind of difference."""
    return {key: kind for key, kind in now.items() if before.get(key) is kind}

"""What probes saw of one slice, and when it may be believed.

A slice is there once it was seen twice, and unchanged for as long as it takes to settle: a partition that vanishes
again, a marker before its files, a count that goes back and a clock that jumps are not believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime, timedelta

LOOKS: Final = 2


@dataclass(frozen=True, slots=True)
class Sight:
    """What one probe saw. `content` is another text whenever the slice's data is other; `why` is for people.

    `rows` is None where the source does not say; `version` and `watermark` are the source's own words. `figures` are
    what people see plotted over the slices. `measured` is what the source counted for rules, by their names: rows that
    break one, or seconds from the newest time to the slice's end (None where there is no time).
    """

    is_there: bool
    why: str
    content: str = ""
    rows: int | None = None
    version: str | None = None
    watermark: str | None = None
    figures: tuple[tuple[str, float], ...] = ()
    measured: tuple[tuple[str, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Sighting:
    """The last sight, since when it is the same, and after how many looks; `first_seen` is when it first was there."""

    sight: Sight
    since: datetime
    at: datetime
    looks: int = 1
    first_seen: datetime | None = None

    def is_settled(self, settle_for: timedelta) -> bool:
        """Whether it is there, and may be believed."""
        return self.sight.is_there and self.looks >= LOOKS and self.at - self.since >= settle_for


def look_again(before: Sighting | None, sight: Sight, now: datetime) -> Sighting:
    """The sighting after another look. What differs, and a clock that went back, begins anew."""
    if not sight.is_there:
        return Sighting(sight, now, now)
    first_seen = (before.first_seen if before else None) or now
    if before is None or now < before.at or not before.sight.is_there or not _is_same(before.sight, sight):
        return Sighting(sight, now, now, first_seen=first_seen)
    return Sighting(sight, before.since, now, before.looks + 1, first_seen)


def _is_same(before: Sight, sight: Sight) -> bool:
    return (before.content, before.rows, before.measured) == (sight.content, sight.rows, sight.measured)

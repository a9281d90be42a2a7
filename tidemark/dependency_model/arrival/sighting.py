"""The results of the probes of one slice, and when they are trusted.

A slice is there once two probes found it and it has not changed for its settling time. So a partition that vanishes
again, a marker before its files, a count that decreases or a clock that jumps is not trusted. In the same way, a slice
that was there is removed once two probes did not find it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

LOOKS: Final = 2


@dataclass(frozen=True, slots=True)
class Sight:
    """The result of one probe. `content` changes whenever the slice's data changes; `why` is for people.

    `rows` is None if the source does not count them. `version` and `watermark` are in the source's own format.
    `figures` are values that are plotted for each slice. `measured` has the source's results for quality rules, by rule
    name: the rows that break the rule, or the seconds from the newest time to the slice's end (None without a time).
    For a replica, `fault` says why its source found the slice wrong, and `origin` has what travelled with it.
    """

    is_there: bool
    why: str
    content: str = ""
    rows: int | None = None
    version: str | None = None
    watermark: str | None = None
    figures: tuple[tuple[str, float], ...] = ()
    measured: tuple[tuple[str, float | None], ...] = ()
    fault: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sighting:
    """The last result, since when it is unchanged (`since`), and the number of equal `looks`.

    `first_seen` is when the slice was first there.
    """

    sight: Sight
    since: datetime
    at: datetime
    looks: int = 1
    first_seen: datetime | None = None

    def is_settled(self, settle_for: timedelta) -> bool:
        """Whether the result is trusted: the slice is there, or it is not."""
        return self.looks >= LOOKS and self.at - self.since >= settle_for


def look_again(before: Sighting | None, sight: Sight, now: datetime) -> Sighting:
    """The sighting after another probe. It starts over if the result changed or the clock went back."""
    if not sight.is_there:
        is_still = before is not None and not before.sight.is_there and now >= before.at
        return (
            Sighting(sight, before.since, now, before.looks + 1) if before and is_still else Sighting(sight, now, now)
        )
    first_seen = (before.first_seen if before else None) or now
    if before is None or now < before.at or not before.sight.is_there or not _is_same(before.sight, sight):
        return Sighting(sight, now, now, first_seen=first_seen)
    return Sighting(sight, before.since, now, before.looks + 1, first_seen)


def _is_same(before: Sight, sight: Sight) -> bool:
    return (before.content, before.rows, before.measured) == (sight.content, sight.rows, sight.measured)

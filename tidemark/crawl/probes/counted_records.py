"""Counts of records in the state store: the source's compared with the lake's, slot by slot (C4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.crawl.content import content_of
from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.completeness.roll_up import RollUp, SlotGrid, WindowChange
from tidemark.dependency_model.completeness.slot import Slot, ratio
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import CountedRecords, ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import CountsProbe

_MINUTE: Final = 60
_TOLD: Final = 3
"""The most slots in a message."""


@dataclass(frozen=True, slots=True)
class CountedWindow:
    """The counts of a slice: its slots with their completeness, and its complete windows.

    `parts` are (side, part, records) of all of its slots.
    """

    slots: tuple[tuple[Slot, bool], ...]
    windows: tuple[WindowChange, ...]
    parts: tuple[tuple[str, str, int], ...]
    final_until: datetime

    @property
    def source(self) -> int:
        """Records at the source."""
        return sum(slot.source for slot, _ in self.slots)

    @property
    def lake(self) -> int:
        """Records in the lake."""
        return sum(slot.lake for slot, _ in self.slots)

    @property
    def is_final(self) -> bool:
        """Whether the source's counts of all its slots are final."""
        return _instant(self.slots[-1][0].end) <= self.final_until

    @property
    def open_slots(self) -> tuple[Slot, ...]:
        """The slots that are not complete."""
        return tuple(slot for slot, is_complete in self.slots if not is_complete)


def look(source: CountsProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See CountsProbe."""
    counted = counted_window(source, probed, context.counts)
    content = content_of((slot.start, slot.source, slot.lake) for slot, _ in counted.slots)
    figures = _figures(counted) if counted.is_final else ()
    is_there = not counted.open_slots
    return Sight(is_there=is_there, why=_in_words(counted), content=content, rows=counted.lake, figures=figures)


def _figures(counted: CountedWindow) -> tuple[tuple[str, float], ...]:
    """The values to plot, once the counts are final."""
    share = counted.lake / counted.source if counted.source else float(not counted.lake)
    missing = sum(slot.missing for slot in counted.open_slots)
    return (
        ("source_records", counted.source),
        ("lake_records", counted.lake),
        ("percent", 100 * share),
        ("missing_records", missing),
    )


def _in_words(counted: CountedWindow) -> str:
    why = f"{counted.lake} of {counted.source} records, {ratio(counted.source, counted.lake):.3%}"
    if not counted.open_slots:
        return why
    why += f"; {len(counted.open_slots)} of {len(counted.slots)} slots are open"
    wrong = [slot for slot in counted.open_slots if slot.missing]
    told = ", ".join(f"{slot.missing} from {_instant(slot.start):%Y-%m-%dT%H:%MZ}" for slot in wrong[:_TOLD])
    return f"{why}, missing {told}{' and others' if len(wrong) > _TOLD else ''}" if wrong else why


def counted_window(source: CountsProbe, probed: ProbedSlice, counts: CountedRecords) -> CountedWindow:
    """All slots that overlap the slice. Raises ProbeError for a slice without a window."""
    if probed.window is None:
        raise ProbeError("records are counted by time windows", found=str(probed.slice))
    grid = SlotGrid(source.slot_minutes, source.phase)
    first = grid.slot(seconds_of(probed.window.start) // _MINUTE)
    last = grid.slot(seconds_of(probed.window.end) // _MINUTE - 1)
    roll_up = RollUp(Calendar(probed.time_zone), grid, _instant(first.start), source.share)
    rows = counts.within(source.of, first.start, last.end)
    totals: Counter[tuple[int, str]] = Counter()
    for minute, side, _, records in rows:
        totals[minute, side] += records  # a part may subtract what another one added
    for (minute, side), records in totals.items():
        roll_up.add(minute, **{side: records})
    final = counts.final_until(source.of)
    windows = roll_up.close(_instant(min(final, last.end)))
    known = {slot.start: (slot, is_complete) for slot, is_complete in roll_up.slots()}
    starts = range(first.start, last.end, grid.minutes)
    slots = tuple(known.get(start, (Slot(start, start + grid.minutes), False)) for start in starts)
    parts: dict[tuple[str, str], int] = {}
    for _, side, part, records in rows:
        parts[side, part] = parts.get((side, part), 0) + records
    told = tuple((side, part, records) for (side, part), records in parts.items())
    return CountedWindow(slots, tuple(windows), told, _instant(final))


def _instant(minute: int) -> datetime:
    return datetime.fromtimestamp(minute * _MINUTE, UTC)

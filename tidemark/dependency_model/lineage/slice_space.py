"""The slices of an upstream as boxes of partition values, from all of time down to a single slice."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, Protocol

from tidemark.dependency_model.lineage.value_range import Range, Type, Value, point
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, day_of
from tidemark.dependency_model.time.partition_columns import clock_values
from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.dependency_model.time.grid import Grid

Box = tuple[Value, ...]
"""A value for each partition column."""

_ANY_CLOCK: Final = (Range(Type.STRING, "", "24"), Range(Type.STRING, "", "60"))
"""Any hour and minute; an hour that occurs twice has an offset to UTC."""
_PLAIN_CLOCK: Final = (Range(Type.STRING, "00", "23", is_shaped=True), Range(Type.STRING, "00", "59", is_shaped=True))
"""Any hour and minute of a day without a clock change."""


class SliceSpace(Protocol):
    """Units in a row (slices, or days of them), and the slices of each unit."""

    first: int
    last: int
    is_of_days: bool
    """Whether each slice is a day, in a calendar that has every day."""

    def unit_of(self, ordinal: int) -> int:
        """The unit of a slice."""

    def box(self, low: int, high: int) -> Box:
        """The partition values of a range of units."""

    def slices(self, low: int, high: int) -> range:
        """The slices of a range of units."""

    def inside(self, unit: int) -> Sequence[tuple[Box, range]]:
        """A unit's smaller boxes in order: partition values and slices."""

    def point(self, ordinal: int) -> Box:
        """The partition values of a slice."""

    def on(self, day: int) -> range:
        """The slices with a given day in the column `dt`."""


class DateSpace:
    """Slices of whole days: each is a unit."""

    def __init__(self, grid: DateGrid) -> None:
        self._grid = grid
        self.first, self.last = grid.first, grid.last
        ends = grid.first_day(grid.first), grid.first_day(grid.last)
        self.is_of_days = grid.period is Period.DAY and ends[1] - ends[0] == grid.last - grid.first

    def unit_of(self, ordinal: int) -> int:
        return ordinal

    def box(self, low: int, high: int) -> Box:
        return (Range(Type.DATE, self._grid.first_day(low), self._grid.first_day(high)),)

    def slices(self, low: int, high: int) -> range:
        return range(low, high + 1)

    def inside(self, unit: int) -> Sequence[tuple[Box, range]]:
        return ((self.box(unit, unit), range(unit, unit + 1)),)

    def point(self, ordinal: int) -> Box:
        return self.box(ordinal, ordinal)

    def on(self, day: int) -> range:
        ordinal = self._grid.at_day(day) if self._grid.first_day(self.first) <= day else self.first
        return range(ordinal, ordinal + (self._grid.first_day(ordinal) == day))


class ClockSpace:
    """Slices shorter than a day: days are the units."""

    def __init__(self, grid: ClockGrid) -> None:
        self._grid = grid
        self._has_minutes = grid.step < 3600
        self.is_of_days = False
        self.first, self.last = 0, grid.place(grid.last)[0]
        self.point = lru_cache(maxsize=4096)(self._point)

    def unit_of(self, ordinal: int) -> int:
        return self._grid.place(ordinal)[0]

    def box(self, low: int, high: int) -> Box:
        clock = _PLAIN_CLOCK if self._grid.is_plain(low, high + 1) else _ANY_CLOCK
        return (Range(Type.DATE, low, high), *clock[: 2 if self._has_minutes else 1])

    def slices(self, low: int, high: int) -> range:
        return range(self._grid.day_start(low), self._grid.day_start(high + 1))

    def inside(self, unit: int) -> Sequence[tuple[Box, range]]:
        """The hours of a day, each as one box."""
        hours: list[tuple[Box, range]] = []
        any_minute = self.box(unit, unit)[-1]
        for hour, group in groupby(self.slices(unit, unit), key=lambda ordinal: self.point(ordinal)[1]):
            ordinals = list(group)
            box = (point(Type.DATE, unit), hour, any_minute) if self._has_minutes else self.point(ordinals[0])
            hours.append((box, range(ordinals[0], ordinals[-1] + 1)))
        return hours

    def on(self, day: int) -> range:
        return self.slices(day, day)

    def _point(self, ordinal: int) -> Box:
        return _clock_box(self._grid.key(ordinal))


def _clock_box(key: str) -> Box:
    day, *clock = clock_values(key)
    return (point(Type.DATE, day_of(day)), *(point(Type.STRING, text) for text in clock))


@lru_cache(maxsize=256)
def slice_space(grid: Grid) -> SliceSpace:
    """The slices of a grid as boxes."""
    if isinstance(grid, ClockGrid):
        return ClockSpace(grid)
    if isinstance(grid, DateGrid):
        return DateSpace(grid)
    raise TypeError(f"no slices of {grid!r}")


class TooManyBoxesError(Exception):
    """The slices needed are too scattered to find within the budget of questions."""


def beginning_of(space: SliceSpace) -> int:
    """The first slice of the space."""
    return space.slices(space.first, space.first).start


def end_of(space: SliceSpace) -> int:
    """The position after the last slice of the space."""
    return space.slices(space.last, space.last).stop


def needed_stretches(
    space: SliceSpace,
    ask: Callable[[Box], tuple[bool, bool]],
    near: range,
    budget: int = 4_000,
    expected: range | None = None,
) -> list[range]:
    """The slices that a question does not rule out, in order; they may reach an end of time.

    `ask` says of a box whether some slice of it may be needed, and whether all are. The search starts at the slices
    `near`, where the answer usually is; farther away, it cuts time into longer ranges. `expected` is the answer of
    another business time, moved: the search starts there, and cuts days at its ends. Raises TooManyBoxesError.
    """
    before, behind = _units(space, near if expected is None else expected)
    stretches: list[range] = []
    stack = [(behind + 1, space.last), (space.first, before - 1)]
    if expected is not None and ask(space.box(before, behind))[1]:
        stretches.append(space.slices(before, behind))
    else:
        stack += [(before, before), (before + 1, behind - 1), *([(behind, behind)] if before < behind else [])]
    while stack:
        low, high = stack.pop()
        if low > high:
            continue
        budget -= 1
        if budget < 0:
            raise TooManyBoxesError
        some, every = ask(space.box(low, high))
        if every:
            stretches.append(space.slices(low, high))
        elif some and low == high:
            stretches += _inside(space, low, ask, expected)
        elif some:
            cut = _cut(low, high, before if high < before else behind)
            stack += [(low, cut), (cut + 1, high)]
    return sorted((stretch for stretch in stretches if stretch), key=lambda stretch: stretch.start)


def _units(space: SliceSpace, slices: range) -> tuple[int, int]:
    """The first and the last unit of a range, inside the space."""
    first, last = (min(max(space.unit_of(at), space.first), space.last) for at in (slices.start, slices.stop - 1))
    return first, last


def _cut(low: int, high: int, middle: int) -> int:
    """The place to cut a range: at eight times its distance from the middle, or in half."""
    if low > middle and high - middle > 8 * (low - middle):
        return middle + 8 * (low - middle)
    if high < middle and middle - low > 8 * (middle - high):
        return middle - 8 * (middle - high) - 1
    return (low + high) // 2


def _inside(
    space: SliceSpace, unit: int, ask: Callable[[Box], tuple[bool, bool]], expected: range | None
) -> list[range]:
    """The needed slices of one unit: its boxes are cut at the expected ends and halved, then checked slice by slice."""
    boxes, whole = space.inside(unit), space.box(unit, unit)
    cuts = [len(boxes) // 2] if expected is None else _places(boxes, expected)
    stretches: list[range] = []
    stack = [(low, high - 1) for low, high in pairwise(sorted({0, *cuts, len(boxes)}))]
    while stack:
        low, high = stack.pop()
        some, every = ask(_hull(boxes[low][0], boxes[high][0], whole))
        if not some:
            continue
        if every:
            stretches.append(range(boxes[low][1].start, boxes[high][1].stop))
        elif low < high:
            middle = (low + high) // 2
            stack += [(low, middle), (middle + 1, high)]
        else:
            stretches += [range(ordinal, ordinal + 1) for ordinal in boxes[low][1] if ask(space.point(ordinal))[0]]
    return stretches


def _places(boxes: Sequence[tuple[Box, range]], slices: range) -> list[int]:
    """The boxes where a range of slices begins and ends."""
    starts = [box_slices.start for _, box_slices in boxes]
    return [bisect_left(starts, slices.start), bisect_left(starts, slices.stop)]


def _hull(first: Box, last: Box, whole: Box) -> Box:
    """The box from one box to another of the same day, whose box is `whole`."""
    if first is last:
        return first
    return tuple(
        Range(low.type, low.low, high.high, day.is_shaped)
        if isinstance(low, Range) and isinstance(high, Range) and isinstance(day, Range)
        else low
        for low, high, day in zip(first, last, whole, strict=True)
    )

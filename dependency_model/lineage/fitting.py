"""From sets of slices to the offset that names them: exactly, at every business time, or not at all."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

from dependency_model.errors import ParseError
from dependency_model.offset import mapping_between
from dependency_model.offset.offset import ALL, COUNT_LIMIT, SAME, Offset, OffsetKind
from dependency_model.time.period import Period

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dependency_model.time.calendar import Calendar
    from dependency_model.time.grid import Grid

_STRETCHES_LIMIT: Final = 2
_TRIED: Final = 3

_mapping = lru_cache(maxsize=4096)(mapping_between)


class Fit:
    """Between one downstream (calendar and period) and one upstream grid; slices before `first` do not exist."""

    def __init__(self, calendar: Calendar, period: Period, up: Grid, first: int) -> None:
        self._down = (calendar, period)
        self._grid = calendar.grid(period)
        self._period = period
        self._up = up
        self._first = first

    def offsets(self, needed: Mapping[int, frozenset[int]]) -> tuple[Offset, ...] | None:
        """The fewest offsets that together name these sets; None where none do."""
        if self._same(self.natural, needed):
            return (self.natural,)
        for counted in self._counted(needed):
            if self._same(counted, needed):
                return (counted,)
        inside = [one for one in self._stretches() if self._within(one, needed)]
        core = self._core(needed)
        for size in range(1, _STRETCHES_LIMIT + 1):
            for chosen in combinations(inside, size):
                for offsets in ([*chosen], [*chosen, core] if core else None):
                    if offsets and self._covers(offsets, needed):
                        return tuple(offsets)
        return None

    def existing(self, needed: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
        """The sets without slices before the upstream's first one."""
        return {
            down: slices
            if not slices or min(slices) >= self._first
            else frozenset(n for n in slices if n >= self._first)
            for down, slices in needed.items()
        }

    @property
    def natural(self) -> Offset:
        """What is meant where nothing is said: every slice in the window, or the one that contains it."""
        return ALL if self._up.period.is_finer_than(self._period) else SAME

    def named(self, offset: Offset, down: int) -> frozenset[int]:
        """The slices that an offset names."""
        found = _mapping(offset, self._down, self._up).expand(down)
        return (
            frozenset(found) if found and found[0] >= self._first else frozenset(n for n in found if n >= self._first)
        )

    def _same(self, offset: Offset, needed: Mapping[int, frozenset[int]]) -> bool:
        return all(self.named(offset, down) == slices for down, slices in needed.items())

    def _within(self, offset: Offset, needed: Mapping[int, frozenset[int]]) -> bool:
        try:
            return all(self.named(offset, down) <= slices for down, slices in needed.items())
        except ParseError:
            return False

    def _covers(self, offsets: list[Offset], needed: Mapping[int, frozenset[int]]) -> bool:
        return all(
            frozenset[int]().union(*(self.named(one, down) for one in offsets)) == slices
            for down, slices in needed.items()
        )

    def _counts(self, down: int, slices: frozenset[int]) -> frozenset[int]:
        anchor = self.anchor(down)
        return frozenset(one - anchor for one in slices)

    def anchor(self, down: int) -> int:
        """The upstream slice from which one counts."""
        found = _mapping(SAME, self._down, self._up).expand(down)
        return found[0] if found else self._up.at(self._grid.start(down))

    def _counted(self, needed: Mapping[int, frozenset[int]]) -> Iterator[Offset]:
        """The counts that most business times show."""
        shown = Counter(self._counts(down, slices) for down, slices in needed.items())
        for counts, _ in shown.most_common(_TRIED):
            if counts and max(map(abs, counts)) <= COUNT_LIMIT:
                yield Offset.counted(counts)

    def _core(self, needed: Mapping[int, frozenset[int]]) -> Offset | None:
        """The counts that every business time shows, those left out that do not exist yet."""
        whole = [(down, slices) for down, slices in needed.items() if slices and min(slices) > self._first]
        found = (
            frozenset.intersection(*(self._counts(down, slices) for down, slices in whole)) if whole else frozenset()
        )
        return Offset.counted(found) if found and max(map(abs, found)) <= COUNT_LIMIT else None

    def _stretches(self) -> Iterator[Offset]:
        if self._up.period.is_finer_than(self._period):
            yield ALL
        for within in (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR):
            if not within.is_finer_than(self._period) and self._up.period.is_finer_than(within):
                yield Offset(OffsetKind.TO_DATE, (), within)
                yield Offset(OffsetKind.ALL, (), within)

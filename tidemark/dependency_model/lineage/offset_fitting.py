"""The offset that names sets of slices: exactly, at every business time, or None."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.calendar_candidates import CalendarCandidates, usual_parts
from tidemark.dependency_model.lineage.stretches import stretches_of
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.offset import ALL, COUNT_LIMIT, SAME, SINCE_START, Offset, OffsetKind
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar

_STRETCHES_LIMIT: Final = 2
_TRIED: Final = 3
_FEWEST_TIMES: Final = 12
"""With fewer business times, an offset by the calendar may fit by chance."""
_FOR_CANDIDATES: Final = 300
"""The most business times, spread evenly, that suggest offsets by the calendar. All of them check an offset."""
_FOR_MESSAGE: Final = 60
_SHOWN: Final = 3
"""The most slices that a message names."""

_mapping = lru_cache(maxsize=4096)(mapping_between)


@dataclass(frozen=True)
class Fit:
    """Fits offsets between one downstream (calendar and period) and one upstream grid, whose first slice is `first`."""

    calendar: Calendar
    period: Period
    up: Grid
    first: int
    has_start: bool = True

    def since_start(self, read: Mapping[int, Sequence[range]]) -> bool:
        """Whether the ranges read, by business time, are everything since the start."""
        mapping = _mapping(SINCE_START, (self.calendar, self.period), self.up)
        return all(
            len(stretches) == 1
            and stretches[0].start <= self.first
            and stretches[0].stop == mapping.expand(down)[-1] + 1
            for down, stretches in read.items()
        )

    def offsets(self, needed: Mapping[int, frozenset[int]]) -> tuple[Offset, ...] | None:
        """The fewest offsets that together name these sets; None if there are none.

        If the sets begin at a fixed day, an offset may also name slices before the upstream's first one.
        """
        all_sets, existing = _Sets(self, needed, None), _Sets(self, self.existing(needed), self.first)
        alone = self._simplest(all_sets) or self._begun_inside(existing)
        return alone or self._fewest(all_sets) or self._simplest(existing) or self._fewest(existing)

    def _begun_inside(self, sets: _Sets) -> tuple[Offset, ...] | None:
        """`all` if the slices read are all that begin in the window; between two clocks one more may overlap it.

        In a zone of half an hour, the hour before midnight is over before the day is: the day does not wait for it.
        """
        if not isinstance(self.up, ClockGrid) or not self.up.period.is_finer_than(self.period):
            return None
        window = self.calendar.grid(self.period).window
        for down, slices in sets.needed.items():
            start = seconds_of(window(down).start)
            begun = frozenset(slice_ for slice_ in self.slices_of(ALL, down) if self.up.start(slice_) >= start)
            if _from(begun, self.first) != slices:
                return None
        return (ALL,)

    def nearest(self, needed: Mapping[int, frozenset[int]]) -> str:
        """For a message: the offset that fits most often, and the slices read where it first does not fit."""
        sets = _Sets(self, self.existing(needed), self.first)
        some = sets.sample(_FOR_MESSAGE)
        candidates = [
            natural_offset(self.period, self.up.period),
            *some.common_counts(),
            *self._stretches(),
            *filter(self._has_meaning, self._by_calendar(some)),
        ]
        offset = max(candidates, key=lambda candidate: len(some.needed) - len(some.unlike(candidate)))
        unlike = sets.unlike(offset)
        if not unlike or len(unlike) == len(sets.needed):
            return ""
        key = self.calendar.grid(self.period).key(unlike[0])
        return f": {offset} does, but at {key} it reads {shown(stretches_of(sorted(sets.needed[unlike[0]])), self.up)}"

    def existing(self, needed: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
        """The sets without slices before the upstream's first one."""
        return {down: _from(slices, self.first) for down, slices in needed.items()}

    def slices_of(self, offset: Offset, down: int) -> frozenset[int]:
        """The slices that an offset names."""
        return frozenset(_mapping(offset, (self.calendar, self.period), self.up).expand(down))

    def anchor(self, down: int) -> int:
        """The upstream slice from which offsets count."""
        ordinals = _mapping(SAME, (self.calendar, self.period), self.up).expand(down)
        return ordinals[0] if ordinals else self.up.at(self.calendar.grid(self.period).start(down))

    def _simplest(self, sets: _Sets) -> tuple[Offset, ...] | None:
        """One of the few offsets that most queries mean."""
        candidates = (natural_offset(self.period, self.up.period), *sets.common_counts(), *self._stretches())
        return next(((candidate,) for candidate in candidates if sets.are([candidate])), None)

    def _fewest(self, sets: _Sets) -> tuple[Offset, ...] | None:
        candidates = self._by_calendar(sets.sample(_FOR_CANDIDATES)) if len(sets.needed) >= _FEWEST_TIMES else ()
        by_calendar = [*filter(self._has_meaning, candidates)]
        for candidate in by_calendar:
            if sets.are([candidate]):
                return (candidate,)
        if apart := self._by_clock(sets, by_calendar):
            return apart
        usual = filter(self._has_meaning, usual_parts(self.period, self.up.period) if by_calendar else ())
        inside = [part for part in dict.fromkeys((*self._stretches(), *usual, *by_calendar)) if sets.hold(part)]
        core = sets.core()
        for size in range(1, _STRETCHES_LIMIT + 1):
            for chosen in combinations(inside, size):
                for offsets in ([*chosen], [*chosen, *core]):
                    if sets.are(offsets):
                        return tuple(offsets)
        return None

    def _by_clock(self, sets: _Sets, by_calendar: Sequence[Offset]) -> tuple[Offset, ...] | None:
        """For hours and minutes: the first of two equal clock times, and different hours on different days."""
        if not isinstance(self.up, ClockGrid):
            return None
        counted = (offset for offset in (*sets.common_counts(), *by_calendar) if offset.kind is OffsetKind.COUNTED)
        once = [(replace(offset, once=True),) for offset in counted] if self.up.odd_days else []
        apart = self._by_calendar(sets.sample(_FOR_MESSAGE)).days_apart() if by_calendar else ()
        known = (offsets for offsets in apart if all(map(self._has_meaning, offsets)))
        return next((offsets for offsets in chain(once, known) if sets.are(offsets)), None)

    def _has_meaning(self, offset: Offset) -> bool:
        """Whether the offset is valid between the two: hours by date are not if their clocks differ."""
        try:
            _mapping(offset, (self.calendar, self.period), self.up)
        except ParseError:
            return False
        return True

    def _by_calendar(self, sets: _Sets) -> CalendarCandidates:
        return CalendarCandidates(self.calendar, self.period, self.up, sets.needed)

    def _stretches(self) -> Iterator[Offset]:
        if self.up.period.is_finer_than(self.period):
            yield ALL
        for within in (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR):
            if not within.is_finer_than(self.period) and self.up.period.is_finer_than(within):
                yield Offset(OffsetKind.TO_DATE, (), within)
                yield Offset(OffsetKind.ALL, (), within)


@dataclass(frozen=True)
class _Sets:
    """Sets of slices by business time, without slices before `first`."""

    fit: Fit
    needed: Mapping[int, frozenset[int]]
    first: int | None

    def sample(self, count: int) -> _Sets:
        """These sets at `count` business times at most."""
        times = list(self.needed)
        chosen = times[:: max(1, -(-len(times) // count))]
        return _Sets(self.fit, {down: self.needed[down] for down in chosen}, self.first)

    def are(self, offsets: Sequence[Offset]) -> bool:
        """Whether offsets together name exactly the sets."""
        return all(
            frozenset[int]().union(*(self._named(offset, down) for offset in offsets)) == slices
            for down, slices in self.needed.items()
        )

    def unlike(self, offset: Offset) -> list[int]:
        """The business times at which an offset names other slices."""
        return [down for down, slices in self.needed.items() if self._named(offset, down) != slices]

    def hold(self, offset: Offset) -> bool:
        """Whether an offset names only slices of the sets."""
        return all(self._named(offset, down) <= slices for down, slices in self.needed.items())

    def common_counts(self) -> Iterator[Offset]:
        """The counts that occur at the most business times."""
        shown = Counter(self._counts(down, slices) for down, slices in self.needed.items())
        for counts, _ in shown.most_common(_TRIED):
            if counts and max(map(abs, counts)) <= COUNT_LIMIT:
                yield Offset.of_counts(counts)

    def core(self) -> tuple[Offset, ...]:
        """The counts common to every business time; sets that reach the first slice do not count."""
        whole = [
            self._counts(down, slices)
            for down, slices in self.needed.items()
            if slices and (self.first is None or min(slices) > self.first)
        ]
        shared = frozenset.intersection(*whole) if whole else frozenset[int]()
        return (Offset.of_counts(shared),) if shared and max(map(abs, shared)) <= COUNT_LIMIT else ()

    def _named(self, offset: Offset, down: int) -> frozenset[int]:
        named = self.fit.slices_of(offset, down)
        return named if self.first is None else _from(named, self.first)

    def _counts(self, down: int, slices: frozenset[int]) -> frozenset[int]:
        anchor = self.fit.anchor(down)
        return frozenset(slice_ - anchor for slice_ in slices)


def shown(stretches: Sequence[range], grid: Grid) -> str:
    """Slices for a message: the keys of the first ones, and the number of the rest."""
    keys = [grid.key(slice_) for slice_ in islice(chain.from_iterable(stretches), _SHOWN)]
    count = sum(map(len, stretches))
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return f"{', '.join(keys)}{more}" if keys else "none"


def _from(slices: frozenset[int], first: int) -> frozenset[int]:
    return slices if not slices or min(slices) >= first else frozenset(slice_ for slice_ in slices if slice_ >= first)

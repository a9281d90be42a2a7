"""Which slices depend on bad ones, by dates alone: nothing of the engine, the graph or the offsets.

Task by task, and of each task slice by slice: does it read a touched one? A task depends on tasks before it and on
itself, so that going through them in order goes through each once.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from benchmarks.readiness.reference import Key, begin_of, inputs_of, key_of, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from benchmarks.readiness.world import ReadinessWorld

    Begun = tuple[str, datetime]
    """A task and where a slice of it begins."""

_BEFORE: Final = timedelta(days=40)
"""A month reads weeks and days that end after it, so that slices from before the bad ones are asked as well."""


class Touched:
    """Of slices that begin by `until`. A slice for which `is_there` is false, or that was not asked for, holds nothing.

    Where any older slice would do, the newest was read for which `is_told` is true; of others each may have been.
    """

    def __init__(
        self,
        world: ReadinessWorld,
        until: datetime,
        is_there: Callable[[Key], bool] = lambda _: True,
        is_told: Callable[[Key], bool] = lambda _: False,
    ) -> None:
        self._world, self._until, self._is_there, self._is_told = world, until, is_there, is_told
        self._users: defaultdict[str, list[str]] = defaultdict(list)
        for name, needs in world.needs.items():
            for need in needs:
                self._users[need.up].append(name)

    def by(self, bad: Sequence[Begun]) -> set[Key]:
        """All that depends on bad slices (task and beginning) over any number of steps, these left out."""
        first = min(begin for _, begin in bad) - _BEFORE
        keys = {(name, key_of(self._world.periods[name], begin)) for name, begin in bad}
        touched: defaultdict[str, set[str]] = defaultdict(set)
        for name, key in keys:
            touched[name].add(key)
        waiting, done = sorted(touched), ""
        while waiting:
            name = heapq.heappop(waiting)
            if name == done:
                continue
            done = name
            for begin in self._slices(name, first):
                if self._is_touched(name, begin, touched):
                    touched[name].add(key_of(self._world.periods[name], begin))
            if touched[name]:
                for user in self._users[name]:
                    heapq.heappush(waiting, user)
        return {(name, key) for name, own in touched.items() for key in own} - keys

    def _slices(self, name: str, first: datetime) -> Iterator[datetime]:
        period = self._world.periods[name]
        begin = begin_of(period, first)
        while begin <= self._until:
            yield begin
            begin = moved(period, begin, 1)

    def _is_touched(self, name: str, begin: datetime, touched: defaultdict[str, set[str]]) -> bool:
        key = name, key_of(self._world.periods[name], begin)
        return self._is_there(key) and any(
            used in touched[up] or (or_older and not self._is_told(key) and any(other <= used for other in touched[up]))
            for (up, used), or_older in inputs_of(self._world, name, self._world.periods[name], begin)
        )

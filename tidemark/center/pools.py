"""Named pools with a limit of runs, and the choice of the least busy one.

An entity lists its pools in the tag `pool` (`pool: "etl, adhoc"`); the default is `default`. A pool that is a place has
room for no more runs than the place itself. Source: seed capability C1 (which cluster or queue has room).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from tidemark.center.errors import PoolError
from tidemark.center.places import Places
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.system.run_pools import DEFAULT, pool_capacities
from tidemark.warm_runs.host_slots import SharedCapacities

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.settings import Settings

TAG: Final = "pool"


@dataclass(frozen=True, slots=True)
class Pools:
    """The limit of runs by pool, and the room of the pools that are places."""

    capacity: Mapping[str, int]
    places: Places = field(default_factory=lambda: Places({}))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Pools from a text such as `default=2, heavy=1`. Raises PoolSettingError."""
        return cls(pool_capacities(text))

    @classmethod
    def of_all_hosts(cls, settings: Settings) -> Self:
        """The pools in the settings, with the current slots of all hosts, and the places as they are in each tick."""
        return cls(SharedCapacities(settings), Places.of(settings, waits=True))

    def one_run_each(self) -> Self:
        """The same pools if runs are executed one after the other."""
        return type(self)(dict.fromkeys(self.capacity, 1))

    def room(self, busy: Counter[str]) -> int:
        """The number of further runs in all pools together."""
        return sum(max(0, self.limit(name) - busy[name]) for name in self.capacity)

    def limit(self, name: str) -> int:
        """The most runs of a pool now; 0 for a place that is full or away."""
        sight = self.places.sight(name)
        return self.capacity[name] if sight is None else min(self.capacity[name], sight.slots)

    def allowed_pools(self, entity: Entity) -> tuple[str, ...]:
        """The pools of an entity. Raises PoolError for an unknown pool."""
        names = _names(tag_of(entity))
        for name in names:
            if name not in self.capacity:
                raise PoolError(
                    f"{entity.name} has an unknown pool",
                    expected=f"one of {', '.join(self.capacity)}",
                    found=name,
                    hint=did_you_mean(name, self.capacity),
                )
        return names

    def fitting_pools(self, entity: Entity, slice_: Slice) -> tuple[str, ...]:
        """The pools of an entity that take this slice. Raises PoolError for an unknown pool."""
        taken = self.places.of_slice(entity, slice_)
        return tuple(name for name in self.allowed_pools(entity) if name in taken or self.places.sight(name) is None)

    def known_pools(self, tag: str) -> frozenset[str]:
        """The pools in a tag, without unknown ones."""
        return frozenset(name for name in _names(tag) if name in self.capacity)

    def slots(self, tag: str) -> int:
        """The limit of all pools in a tag together; unknown pools count 0."""
        return sum(self.limit(name) for name in self.known_pools(tag))

    def choose(self, allowed: Iterable[str], busy: Counter[str]) -> str | None:
        """The pool with the largest free share, the first among equals; None if all are full."""
        free = {name: self.limit(name) - busy[name] for name in allowed}
        there = [name for name in free if free[name] > 0]
        return max(there, key=lambda name: free[name] / self.capacity[name], default=None)

    def why_none(self, entity: Entity, slice_: Slice, busy: Counter[str]) -> str:
        """Why a slice waits, if one of its pools is a place; empty if none is."""
        names = self.allowed_pools(entity)
        if all(self.places.sight(name) is None for name in names):
            return ""
        fitting = self.fitting_pools(entity, slice_)
        return "; ".join(
            self._why_full(name, busy) if name in fitting else f"{name} does not take it" for name in names
        )

    def _why_full(self, name: str, busy: Counter[str]) -> str:
        sight = self.places.sight(name)
        if sight is None or busy[name] >= self.capacity[name] <= sight.slots:
            return f"{name} is full with {self.capacity[name]} runs"
        return f"{name} has no room: {sight.words}"


def tag_of(entity: Entity) -> str:
    """The pools of an entity as a tag."""
    return entity.tags.get(TAG, DEFAULT)


def _names(tag: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in tag.split(","))

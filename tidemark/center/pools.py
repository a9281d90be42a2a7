"""Where runs go: named pools with room for so many runs each, and the least busy one that a slice may use.

An entity names the pools that it may use in its tag `pool` (`pool: "etl, adhoc"`); without the tag it uses `default`.
Source: seed capability C1 (which cluster or queue has room).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from tidemark.center.errors import PoolError
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.system.run_pools import DEFAULT, pool_capacities
from tidemark.warm_runs.host_slots import SharedCapacities

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings

TAG: Final = "pool"


@dataclass(frozen=True, slots=True)
class Pools:
    """How many runs each pool takes at a time."""

    capacity: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """The pools of a text such as `default=2, heavy=1`. Raises PoolSettingError."""
        return cls(pool_capacities(text))

    @classmethod
    def of_all_hosts(cls, settings: Settings) -> Self:
        """The pools that the settings name, with the slots that they have on all hosts, as these come and go."""
        return cls(SharedCapacities(settings))

    def one_run_each(self) -> Self:
        """The same pools where runs are executed one after the other."""
        return type(self)(dict.fromkeys(self.capacity, 1))

    def room(self, busy: Counter[str]) -> int:
        """How many more runs all pools take together."""
        return sum(max(0, count - busy[name]) for name, count in self.capacity.items())

    def allowed_pools(self, entity: Entity) -> tuple[str, ...]:
        """The pools that an entity may use. Raises PoolError where there is no such pool."""
        names = _names(tag_of(entity))
        for name in names:
            if name not in self.capacity:
                raise PoolError(
                    f"{entity.name} asks for a pool that there is not",
                    expected=f"one of {', '.join(self.capacity)}",
                    found=name,
                    hint=did_you_mean(name, self.capacity),
                )
        return names

    def slots(self, tag: str) -> int:
        """How many runs the pools that a tag names take together; a pool that there is not takes none."""
        return sum(self.capacity.get(name, 0) for name in _names(tag))

    def choose(self, allowed: Iterable[str], busy: Counter[str]) -> str | None:
        """The pool with the most room in proportion, the first one where several have it; None where all are full."""
        free = [name for name in allowed if busy[name] < self.capacity[name]]
        return min(free, key=lambda name: busy[name] / self.capacity[name], default=None)


def tag_of(entity: Entity) -> str:
    """The pools that an entity may use, as its tag names them."""
    return entity.tags.get(TAG, DEFAULT)


def _names(tag: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in tag.split(","))

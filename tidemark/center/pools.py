"""Named pools with a limit of runs, and the choice of the least busy one.

An entity lists its pools in the tag `pool` (`pool: "etl, adhoc"`); the default is `default`. Source: seed capability C1
(which cluster or queue has room).
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
    """The limit of runs by pool."""

    capacity: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Pools from a text such as `default=2, heavy=1`. Raises PoolSettingError."""
        return cls(pool_capacities(text))

    @classmethod
    def of_all_hosts(cls, settings: Settings) -> Self:
        """The pools in the settings, with the current slots of all hosts."""
        return cls(SharedCapacities(settings))

    def one_run_each(self) -> Self:
        """The same pools if runs are executed one after the other."""
        return type(self)(dict.fromkeys(self.capacity, 1))

    def room(self, busy: Counter[str]) -> int:
        """The number of further runs in all pools together."""
        return sum(max(0, count - busy[name]) for name, count in self.capacity.items())

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

    def known_pools(self, tag: str) -> frozenset[str]:
        """The pools in a tag, without unknown ones."""
        return frozenset(name for name in _names(tag) if name in self.capacity)

    def slots(self, tag: str) -> int:
        """The limit of all pools in a tag together; unknown pools count 0."""
        return sum(self.capacity[name] for name in self.known_pools(tag))

    def choose(self, allowed: Iterable[str], busy: Counter[str]) -> str | None:
        """The pool with the largest free share, the first among equals; None if all are full."""
        free = [name for name in allowed if busy[name] < self.capacity[name]]
        return min(free, key=lambda name: busy[name] / self.capacity[name], default=None)


def tag_of(entity: Entity) -> str:
    """The pools of an entity as a tag."""
    return entity.tags.get(TAG, DEFAULT)


def _names(tag: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in tag.split(","))

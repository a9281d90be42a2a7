"""How much runs at once where several hosts have warm workers: the pools of all of them together."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tidemark.errors import TransientError
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import WorkerHosts
from tidemark.system.run_pools import pool_capacities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.state_store.worker_hosts import WorkerHost
    from tidemark.system.settings import Settings

_FRESH_SECONDS: Final = 2.0


class SharedCapacities(Mapping[str, int]):
    """The slots of each of this process's pools on all hosts that are there; its own while there is none.

    Where the store is a file there is this machine alone, and nobody is asked. It is looked at again every few seconds;
    while it does not answer, what was known stays.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._own, self._settings, self._clock = pool_capacities(settings.pools), settings, clock
        self._known: Mapping[str, int] = self._own
        self._hosts: WorkerHosts | None = None
        self._there: Sequence[WorkerHost] = ()
        self._asked_at = float("-inf")

    def __getitem__(self, name: str) -> int:
        return self._fresh()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def figures(self) -> dict[str, int]:
        """Of the hosts that were there when they were last looked at: how many, their slots, and what they run."""
        there = self._there
        slots, running = sum(host.pool.slots for host in there), sum(host.running for host in there)
        return {"there": len(there), "slots": slots, "running": running}

    def _fresh(self) -> Mapping[str, int]:
        if self._settings.state and self._clock() - self._asked_at >= _FRESH_SECONDS:
            self._asked_at = self._clock()
            try:
                self._hosts = self._hosts or WorkerHosts(Database.of(self._settings))
                self._there = self._hosts.present()
                self._known = capacities_of(self._own, self._there)
            except TransientError:
                return self._known
        return self._known


def capacities_of(own: Mapping[str, int], hosts: Sequence[WorkerHost]) -> dict[str, int]:
    """By pool the slots of all hosts; of a pool that none of them has, as many as are set here."""
    total: Counter[str] = Counter()
    for host in hosts:
        total.update(pool_capacities(host.pool.pools))
    return {name: total[name] or count for name, count in own.items()}

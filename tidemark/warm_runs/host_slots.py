"""The number of parallel runs over several hosts with warm workers: the sum of their pools."""

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
    """The slots of each of this process's pools on all live hosts; its own slots while there is no host.

    If the store is a file, there is only this machine. The store is read again every few seconds. While it does not
    answer, the last values stay.
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
        """The number, slots and active runs of the hosts that were alive at the last read."""
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
    """For each pool, the slots of all hosts; if no host has the pool, the slots of the setting here."""
    total: Counter[str] = Counter()
    for host in hosts:
        total.update(pool_capacities(host.pool.pools))
    return {name: total[name] or count for name, count in own.items()}

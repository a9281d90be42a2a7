"""The center with its detectors and its dispatch, one turn at a time: what the readiness sensor does in each tick."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.center.center import DependencyCenter
from tidemark.center.dagster_runs import DagsterRequests
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.detectors.snapshots import SnapshotDetector
from tidemark.center.dispatch import Dispatch, Policy
from tidemark.center.pools import Pools
from tidemark.state_store.lease import Lease
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.warehouse.warehouse import Warehouse

_WIPED_SECONDS: Final = 60.0
_NOTED_SECONDS: Final = 3_600.0
TOGETHER: Final = 7
"""So many slices that follow each other a run computes: a week of days."""
_LEASE_SECONDS: Final = 30.0
"""Longer than the daemon takes from a tick to its runs."""


class Intake:
    """The center and what it is told by Dagster, the capture and the clock; `who` names it in the transitions."""

    def __init__(self, warehouse: Warehouse, who: str) -> None:
        self.store = StateStore.of(warehouse.settings)
        self.center = DependencyCenter(
            warehouse.graph, self.store, since=first_start(warehouse), clock=lambda: datetime.now(UTC), who=who
        )
        self._snapshots = SnapshotDetector(SnapshotRegistry(self.store.database), self.center, self.store.read)
        self._events: EventLogDetector | None = None
        self._due: dict[str, float] = {}

    def turn(self, instance: dg.DagsterInstance, *, thoroughly: bool = True) -> int:
        """Take in what is new and let time work; returns how many facts changed something.

        With `thoroughly` also what another center wrote, what became visible late, and names that the capture gave.
        After an error everything begins with what is stored.
        """
        if thoroughly or self._events is None:
            self.center.catch_up()
        events = self._events or EventLogDetector(instance, self.center, self.store.read)
        self._events, events.instance = None, instance
        new = events.poll(thoroughly=thoroughly)
        if thoroughly:
            new += self._snapshots.poll()
        self.center.tick()
        self._events = events
        return new

    def upkeep(self, wiped_seconds: float) -> None:
        """What is done less often: what is there is compared with what Dagster has, the schedule's place is noted."""
        if self._events and self._has_come("wiped", wiped_seconds):
            self._events.inspect_wiped()
        if self._has_come("noted", _NOTED_SECONDS):
            self.center.checkpoint()

    def begin_anew(self) -> None:
        """Another center may have been active: the next turn begins with what is stored, and all upkeep is due."""
        self._events, self._due = None, {}

    def read_again(self) -> None:
        """After an error the next turn begins with what is stored."""
        self._events = None

    def _has_come(self, what: str, seconds: float) -> bool:
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + seconds
        return True


class Host:
    """One a process; everything durable is in the store, so that a new one goes on where the last one was.

    It lets a service have the lease that asks for it, and takes it back when none is there any more.
    """

    active = ""

    def __init__(self, warehouse: Warehouse) -> None:
        self._intake = Intake(warehouse, "sensor")
        self.store, self.center = self._intake.store, self._intake.center
        self._lease: Lease | None = None
        self._requests = DagsterRequests(warehouse.graph)
        self._dispatch = Dispatch(
            self.center,
            self.store.read,
            self._requests,
            Pools.parse(warehouse.settings.pools),
            policy=Policy(together=TOGETHER),
            clock=lambda: datetime.now(UTC),
        )

    def turn(self, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
        """Take in what is new, let time work, and say which runs are to start; none while another center is active.

        By the next turn the daemon has started what this one says, so that the lease may go then.
        """
        if not self._is_active(instance):
            return []
        self._requests.instance = instance
        self._intake.turn(instance)
        self._intake.upkeep(_WIPED_SECONDS)
        self._dispatch.recover()
        self._dispatch.step()
        return self._requests.take()

    def _is_active(self, instance: dg.DagsterInstance) -> bool:
        """One daemon works on a storage: its next sensor, of code that was loaded again, need not wait for the last."""
        if self._lease is None:
            storage = instance.run_storage.get_run_storage_id()  # type: ignore[attr-defined]  # all SQL storages have it
            holder = f"sensor of {storage}"
            self._lease = Lease(self.store.database, holder, _LEASE_SECONDS, yields=True)
        held = self._lease.hold()
        self.active, self.store.write.fence = held.holder, self._lease.fence
        return held.generation is not None

    def summary(self) -> str:
        """One line for the sensor's tick: how much waits, runs, and was set aside; or who is active."""
        if self._lease and self._lease.generation is None:
            return f"another center is active: {self.active or 'one that is taking over'}"
        aside = self._dispatch.set_aside()
        text = f"{len(self.center.ready())} ready, {len(self.center.under_way())} under way"
        text += f", set aside: {', '.join(map(str, aside[:20]))}" if aside else ""
        return "; ".join([text, *map(str, self._dispatch.misplaced.values())])


def first_start(warehouse: Warehouse) -> datetime:
    """The beginning of the first slice that any entity declares."""
    graph = warehouse.graph
    starts = []
    for name in graph:
        node = graph.node(name)
        if node.grid is not None:
            starts.append(node.grid.window(node.existing.start).start)
    return min(starts, default=datetime.now(UTC))

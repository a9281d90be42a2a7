"""The center with its detectors and its dispatch, one turn at a time: what the readiness sensor does in each tick."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from resources.state_store.lease import Lease
from resources.state_store.registry import SnapshotRegistry
from resources.state_store.store import StateStore
from sensors.dependency_center.center import DependencyCenter
from sensors.dependency_center.dagster_runs import DagsterRequests
from sensors.dependency_center.detectors.event_log import EventLogDetector
from sensors.dependency_center.detectors.snapshots import SnapshotDetector
from sensors.dependency_center.dispatch import Dispatch, Policy
from sensors.dependency_center.pools import Pools

if TYPE_CHECKING:
    import dagster as dg

    from warehouse_assets.warehouse import Warehouse

_WIPED_EVERY: Final = 12
"""Once in so many turns all that is there is compared with what Dagster has."""
_NOTED_EVERY: Final = timedelta(hours=1)
_TOGETHER: Final = 7
_LEASE_SECONDS: Final = 30.0
"""Longer than the daemon takes from a tick to its runs."""


class Intake:
    """The center and what it is told by Dagster, the capture and the clock; `who` names it in the transitions."""

    def __init__(self, warehouse: Warehouse, who: str) -> None:
        self.store = StateStore.of(warehouse.settings)
        self.center = DependencyCenter(
            warehouse.graph, self.store, since=first_start(warehouse), clock=lambda: datetime.now(UTC), who=who
        )
        self._snapshots = SnapshotDetector(SnapshotRegistry(self.store.database), self.center)
        self._events: EventLogDetector | None = None
        self._turns, self._note_at = 0, datetime.now(UTC)

    def poll_snapshots(self) -> int:
        """Take in the names that the capture has given; how many slices that released."""
        return self._snapshots.poll()

    def turn(self, instance: dg.DagsterInstance) -> None:
        """Take in what is new, what another center wrote included, and let time work."""
        self.center.catch_up()
        events = self._events or EventLogDetector(instance, self.center, self.store.read)
        self._events, events.instance = None, instance  # after an error it begins with what is stored
        events.poll()
        self._events = events
        if self._turns % _WIPED_EVERY == 0:
            events.inspect_wiped()
        self._turns += 1
        self._snapshots.poll()
        self.center.tick()
        if datetime.now(UTC) >= self._note_at:
            self._note_at = datetime.now(UTC) + _NOTED_EVERY
            self.center.checkpoint()


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
            policy=Policy(together=_TOGETHER),
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

"""The center as a service: it reads events at once, and launches released slices.

Of several services on one state store, the lease makes one active; the others stand by.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.alerts import AlertWatch
from tidemark.center.baseline import CenterForecast
from tidemark.center.center_tick import CenterTick
from tidemark.center.dispatch import TOGETHER, Dispatch
from tidemark.center.event_wakeup import Waker, waker_of
from tidemark.center.health import HealthCondition, HealthWatch, StoredHealth
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.launchers.direct_runs import DirectRuns
from tidemark.center.leadership import Leadership, holder_name
from tidemark.center.outages import OUTAGES
from tidemark.center.places import Places
from tidemark.center.pools import Pools
from tidemark.center.topic_subscription_thread import subscription_of
from tidemark.errors import TerminalError
from tidemark.lineage_events.environment import emitter_of_environment
from tidemark.state_store.fence import Fence
from tidemark.state_store.lease import CENTER, Lease
from tidemark.system.due_times import DueTimes
from tidemark.system.garbage_collection import freeze_live_objects
from tidemark.system.utc_clock import utc_now
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_slots import SharedCapacities
from tidemark.warm_runs.host_socket import ask
from tidemark.warm_runs.launcher import WarmRunLauncher
from tidemark.warm_runs.worker_options import host_folder

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.center.code_location import CodeLocation
    from tidemark.warehouse.warehouse import Warehouse

Tell = Callable[..., None]
"""Writes a line of the log: the name of an event and its values."""

LEASE_SECONDS: Final = 6.0
_NOWHERE: Final = Fence(CENTER, 0, "")
ACROSS: Final = 16
"""Most entities at the same times in one run while pools are full: a step costs less than a run."""
_STANDBY_SECONDS: Final = 0.3
_RECONCILE_SECONDS: Final = 1.0
_WORKERS_SECONDS: Final = 5.0
_AGAIN_SECONDS: Final = 0.5


@dataclass(slots=True)
class ServiceFigures:
    """Counters of the service since its start."""

    ticks: int = 0
    facts: int = 0
    launched: int = 0
    errors: int = 0
    tick_seconds: float = 0.0


class Service:
    """One process's center; `serve` runs until a stop."""

    def __init__(
        self,
        warehouse: Warehouse,
        instance: dg.DagsterInstance,
        location: CodeLocation,
        tell: Tell,
        policy: LaunchPolicy | None = None,
    ) -> None:
        self._intake = CenterTick(warehouse, "center")
        self.store, self.center = self._intake.store, self._intake.center
        self.store.write.fence = _NOWHERE
        lease = Lease(self.store.database, holder_name("center"), LEASE_SECONDS, insists=True)
        self.figures, self.health = ServiceFigures(), HealthWatch()
        stored_health = StoredHealth(self.store.database)
        self.leadership = Leadership(lease, lambda: stored_health.put(self._troubles()))
        self._instance, self._tell = instance, tell
        self._hosts = SharedCapacities(warehouse.settings)
        self._pools = Pools(self._hosts, Places.of(warehouse.settings))
        self.forecast = CenterForecast(self.center, self._pools, utc_now)
        self._alerts = AlertWatch(
            self.center, self.forecast, warehouse.settings, os.environ, refused=self._intake.refused
        )
        self._lineage = emitter_of_environment(warehouse, self.store)
        self._policy = policy or LaunchPolicy(together=TOGETHER, across=ACROSS)
        self._runs = DirectRuns(warehouse.graph, instance, location)
        self._waker: Waker = waker_of(instance)
        self._subscription = subscription_of(
            warehouse.settings, self.center, self.store.read, lambda: self.leadership.fencing_token, tell
        )
        self._leads, self._reconcile_at, self._due = 0, 0.0, DueTimes()
        self._steps = IsolatedSteps()
        self._unreadable: dict[str, str] = {}
        self._dispatch = self._new_dispatch()

    def serve(
        self,
        stopped: Callable[[], bool],
        watch: Callable[[], None] = lambda: None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        """Tick until `stopped`. Temporary errors are logged and tried again.

        `started` is called when the active center is known, `watch` in every tick.
        """
        with self.leadership, self._subscription:
            self._is_active()
            freeze_live_objects()
            started()
            while not stopped():
                watch()
                if self._is_active():
                    self._tick()
                else:
                    time.sleep(_STANDBY_SECONDS)
        self._alerts.close()
        if self._lineage is not None:
            self._lineage.close()
        self._tell("stopped")
        self._waker.close()
        self.store.close()

    def status(self) -> dict[str, Any]:
        """Figures for users and metrics, from memory and the warm workers."""
        leads = self.leadership.fencing_token is not None
        workers = self._workers()
        return {
            "healthy": not self.health.troubles(),
            "troubles": self._troubles(),
            "active": leads,
            "fencing_token": self.leadership.fencing_token or 0,
            "holder": self.leadership.holder,
            "ticks": self.figures.ticks,
            "facts": self.figures.facts,
            "launched": self.figures.launched,
            "errors": self.figures.errors,
            "refused_events": self._intake.refused.count,
            "tick_seconds": round(self.figures.tick_seconds, 6),
            "seconds_since_tick": round(self.health.seconds(HealthCondition.TICKS), 3),
            "unreadable_tables": len(self._intake.unreadable_tables),
            "crawl": self._intake.outside.figures(),
            "warm_workers": {name: value for name, value in workers.items() if isinstance(value, int)},
            "worker_hosts": self._hosts.figures(),
        }

    def _troubles(self) -> list[str]:
        """Why the center does not work, or does not compute flows that it had at its start."""
        return [*self.health.troubles(), *self._intake.flow_troubles()]

    def _workers(self) -> dict[str, Any]:
        """The status of this machine's warm workers; empty if there are none."""
        try:
            return ask(host_folder(self._instance), {"do": "status"}, 1.0)
        except WorkersDownError:
            return {}

    def _look_for_workers(self) -> None:
        """Note whether a run could be started; other launchers need no host."""
        needs_host = isinstance(self._instance.run_launcher, WarmRunLauncher)
        self.health.saw(
            HealthCondition.WORKERS,
            holds=not needs_host or self._hosts.figures()["slots"] > 0 or bool(self._workers().get("healthy")),
        )

    def _is_active(self) -> bool:
        """Whether the lease is held; a new term starts from the stored state."""
        self.health.saw(HealthCondition.LED, holds=self.leadership.is_led)
        fencing_token = self.leadership.fencing_token or 0
        if fencing_token != self._leads:
            self._leads = fencing_token
            self.store.write.fence = Fence(CENTER, fencing_token, self.leadership.holder)
            self._intake.begin_anew()
            self._reconcile_at, self._dispatch = 0.0, self._new_dispatch()
            if fencing_token:
                self.health.begin(HealthCondition.TICKS, HealthCondition.WORKERS)
                self._tell("active", fencing_token=fencing_token)
            else:
                self.health.end(HealthCondition.TICKS, HealthCondition.WORKERS)
                self._tell("standby", holder=self.leadership.holder)
        return fencing_token > 0

    def _tick(self) -> None:
        begun = time.monotonic()
        if self._due.has_come("workers", _WORKERS_SECONDS):
            self._look_for_workers()
        try:
            self._work()
        except TerminalError:
            raise
        except Exception as error:  # noqa: BLE001 - an unforeseen error of one fact must not stop the others
            self.figures.errors += 1
            event = "again" if isinstance(error, OUTAGES) else "unexpected"
            self._tell(event, kind=type(error).__name__, error=" ".join(str(error).split())[:500])
            self._intake.read_again()
            time.sleep(_AGAIN_SECONDS)
        else:
            self.figures.ticks += 1
            self.health.saw(HealthCondition.TICKS, holds=self._intake.takes_in)
            self.figures.tick_seconds += time.monotonic() - begun
            self._waker.wait()

    def _work(self) -> None:
        reconciles = time.monotonic() >= self._reconcile_at
        if reconciles:
            self._reconcile_at = time.monotonic() + _RECONCILE_SECONDS
        new = self._intake.tick(self._instance, reconcile=reconciles)
        if reconciles and self._intake.lacks_runs:
            self._dispatch.begin_anew()
        launched = self._dispatch.step()
        self.figures.facts += new
        self.figures.launched += launched
        if launched:
            self._tell("launched", runs=launched, under_way=len(self.center.under_way()))
        self._tell_unreadable()
        self._intake.upkeep()
        self._steps.begin()
        self._steps.run("alerts", partial(self._alerts.poll, self._instance), None)
        if self._lineage is not None:
            self._steps.run("lineage events", self._lineage.poll, None)
        for steps in (self._intake.isolated, self._dispatch.isolated, self._steps):
            self.figures.errors += len(steps.troubles)

    def _tell_unreadable(self) -> None:
        """Log each slice with an unreadable value, and each table with an unreadable log, once."""
        slices = {f"slice {slice_}": why for slice_, why in self.center.unreadable().items()}
        unreadable = {**slices, **{f"table {name}": why for name, why in self._intake.unreadable_tables.items()}}
        for what in sorted(unreadable.keys() - self._unreadable.keys()):
            kind, _, name = what.partition(" ")
            self._tell("unreadable", **{kind: name}, why=unreadable[what])
        self._unreadable = unreadable

    def _new_dispatch(self) -> Dispatch:
        return Dispatch(
            self.center,
            self._runs,
            self._pools,
            policy=self._policy,
            clock=utc_now,
            backfills=self._intake.backfills,
            may_launch=self._intake.may_launch,
        )

"""The center as a sensor of Dagster's daemon: each tick reads new events and returns run requests."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from tidemark.center.alerts import AlertWatch
from tidemark.center.baseline import CenterForecast
from tidemark.center.center_tick import CenterTick
from tidemark.center.dispatch import TOGETHER, Dispatch
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.launchers.sensor_run_requests import DagsterRequests
from tidemark.center.pools import Pools
from tidemark.lineage_events.environment import emitter_of_environment
from tidemark.state_store.lease import Lease
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.warehouse.warehouse import Warehouse

_LEASE_SECONDS: Final = 30.0
"""Longer than the daemon needs from a tick to its runs."""


class SensorHost:
    """One in each process; all durable state is in the store.

    It gives its lease to a service that asks, and takes it back when there is no service.
    """

    active = ""

    def __init__(self, warehouse: Warehouse) -> None:
        self._intake = CenterTick(warehouse, "sensor")
        self.store, self.center = self._intake.store, self._intake.center
        self._lease: Lease | None = None
        self._steps = IsolatedSteps()
        self._requests = DagsterRequests(warehouse.graph)
        pools, settings = Pools.of_all_hosts(warehouse.settings), warehouse.settings
        self._alerts = AlertWatch(
            self.center, CenterForecast(self.center, pools, utc_now), settings, os.environ, refused=self._intake.refused
        )
        self._lineage = emitter_of_environment(warehouse, self.store)
        self._dispatch = Dispatch(
            self.center,
            self._requests,
            pools,
            policy=LaunchPolicy(together=TOGETHER),
            clock=utc_now,
            backfills=self._intake.backfills,
            may_launch=self._intake.may_launch,
        )

    def tick(self, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
        """Read new events, apply the clock, and return run requests; none while another center is active.

        The daemon starts these runs before the next tick, so the lease may be given away then.
        """
        if not self._is_active(instance):
            return []
        self._requests.instance = instance
        self._intake.tick(instance)
        self._intake.upkeep()
        self._dispatch.begin_anew()
        self._dispatch.step()
        self._steps.begin()
        self._steps.run("alerts", partial(self._alerts.poll, instance), None)
        if self._lineage is not None:
            self._steps.run("lineage events", self._lineage.poll, None)
        return self._requests.take()

    def _is_active(self, instance: dg.DagsterInstance) -> bool:
        """Only one daemon uses a storage, so the sensor after a reload need not wait for the previous sensor."""
        if self._lease is None:
            storage = instance.run_storage.get_run_storage_id()  # type: ignore[attr-defined]  # all SQL storages have it
            holder = f"sensor of {storage}"
            self._lease = Lease(self.store.database, holder, _LEASE_SECONDS, yields=True)
        held = self._lease.hold()
        self.active, self.store.write.fence = held.holder, self._lease.fence
        return held.fencing_token is not None

    @property
    def is_standing_by(self) -> bool:
        """Whether another center is active."""
        return self._lease is None or self._lease.fencing_token is None

    def summary(self) -> str:
        """One line for the sensor's tick: numbers of ready, active and exhausted slices; or the active center."""
        if self._lease and self._lease.fencing_token is None:
            return f"another center is active: {self.active or 'one that is taking over'}"
        exhausted = self._dispatch.retries_exhausted()
        text = f"{len(self.center.ready())} ready, {len(self.center.under_way())} under way"
        text += f", retries exhausted: {', '.join(map(str, exhausted[:20]))}" if exhausted else ""
        unreadable = [f"{slice_}: {why}" for slice_, why in self.center.unreadable().items()]
        troubles = [
            line for steps in (self._intake.isolated, self._dispatch.isolated, self._steps) for line in steps.summary
        ]
        return "; ".join([text, *unreadable[:20], *map(str, self._dispatch.without_pool.values()), *troubles[:20]])

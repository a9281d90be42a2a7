"""Plans a delivery to one target for each slice that changed, and sends deliveries in the order of the changes (C7).

A plan is stored before the delivery, and its completion after it; after a crash in between, the delivery is sent again.
Each slice has at most one delivery, so the last one sent always carries the slice's present state. If a target does not
answer, the refresher tries again later, starting with the delivery that failed. If a target refuses a slice, the other
slices go on.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.refresh.delivery import (
    SliceDelivery,
    SliceStanding,
    action_of,
    due_deliveries,
    planned_delivery,
)
from tidemark.errors import TidemarkError
from tidemark.refresh.errors import TargetDownError
from tidemark.refresh.refreshed_slice import RefreshedSlice
from tidemark.state_store.held_leases import holding
from tidemark.state_store.slice_deliveries import SliceDeliveries
from tidemark.system.crash_points import crash_point
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.refresh.refreshed_slice import RefreshAdapter
    from tidemark.state_store.fence import Fence
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Current
    from tidemark.warehouse.warehouse import Warehouse

_LOGGER: Final = logging.getLogger("tidemark.refresh")


@dataclass
class RefreshReport:
    """The number of deliveries sent; `troubles` maps each slice that failed to the reason."""

    delivered: int = 0
    troubles: dict[Slice, str] = field(default_factory=dict)


class Refresher:
    """Refreshes one target. Only one process may do so at a time."""

    def __init__(
        self,
        warehouse: Warehouse,
        store: StateStore,
        target: str,
        adapter: RefreshAdapter,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._warehouse, self._store, self._target = warehouse, store, target
        self._adapter, self._clock = adapter, clock
        self._stored = {
            entity.name: SliceDeliveries(store.database, target, entity.name)
            for entity in warehouse.entities.values()
            if any(told.target == target for told in entity.refresh)
        }
        self._deliveries: dict[Slice, SliceDelivery] = {}
        self._open: dict[Slice, SliceDelivery] = {}
        self._fences: tuple[Fence, ...] = ()
        self._seen, self._asked_at = -1, clock()

    def run_pass(self, goes_on: Callable[[], bool] = lambda: True) -> RefreshReport:
        """Send all due deliveries once.

        Raises StateStoreDownError, and AlreadyRunningError while another process refreshes the target.
        """
        return self.follow(goes_on, lambda: False)

    def follow(self, goes_on: Callable[[], bool], wait: Callable[[], bool]) -> RefreshReport:
        """Repeat the pass until `wait`, called between two passes, returns False."""
        report = RefreshReport()
        name = f"refresh {self._target}"
        with holding(self._store.database, name, f"refreshing {self._target}") as held:
            self._fences, self._seen, self._asked_at = held.fences, -1, self._clock()
            self._deliveries, self._open = {}, {}
            for stored in self._stored.values():
                self._keep(stored.all().values())
            while goes_on():
                self._look()
                self._deliver_due(goes_on, report)
                if not wait():
                    break
        return report

    def _look(self) -> None:
        """Plan deliveries of changed slices. It reads the last transition first, so the next look sees later ones."""
        last = self._store.read.last()
        if last == self._seen:
            return
        for name, currents in self._changed().items():
            planned = list(self._planned(currents))
            if planned:
                self._stored[name].put(planned, self._fences)
                self._keep(planned)
        self._seen = last

    def _changed(self) -> dict[str, list[Current]]:
        """By entity, the slices that changed since the last look.

        The first look returns all known and completed ones.
        """
        read = self._store.read
        if self._seen < 0:
            known = read.currents(self._deliveries)
            there = (current for name in self._stored for current in read.completed_slices(name))
            changed = {current.slice: current for current in (*known, *there)}
        else:
            slices = {told.slice for told in read.after(self._seen) if told.slice.entity in self._stored}
            changed = {current.slice: current for current in read.currents(slices)} if slices else {}
        by_entity: dict[str, list[Current]] = {}
        for current in changed.values():
            if current.slice.entity in self._stored:
                by_entity.setdefault(current.slice.entity, []).append(current)
        return by_entity

    def _planned(self, currents: Iterable[Current]) -> Iterable[SliceDelivery]:
        readable = {current.slice: current for current in currents if not current.unreadable}
        versions = self._store.read.versions(readable)
        now = self._clock()
        for slice_, current in readable.items():
            action = action_of(slice_, current.status)
            if action is None:
                continue
            version = versions.get(slice_, "")
            standing = SliceStanding(action, current.status.generation, version, current.seq)
            delivery = planned_delivery(slice_, standing, self._deliveries.get(slice_), now)
            if delivery is not None:
                yield delivery

    def _deliver_due(self, goes_on: Callable[[], bool], report: RefreshReport) -> None:
        now = self._clock()
        if now < self._asked_at or not self._open:
            return
        for delivery in due_deliveries(self._open.values(), now):
            if not goes_on() or not self._deliver(delivery, report):
                return

    def _deliver(self, delivery: SliceDelivery, report: RefreshReport) -> bool:
        """Returns whether the target can accept more deliveries."""
        try:
            self._adapter.deliver(self._refreshed(delivery))
        except TidemarkError as error:
            self._fail(delivery, str(error), report, is_down=isinstance(error, TargetDownError))
            return not isinstance(error, TargetDownError)
        except Exception as error:  # noqa: BLE001 - one slice must not stop the others; messages may hold addresses
            self._fail(delivery, f"unexpected {type(error).__name__}", report, is_down=False)
            return True
        crash_point("refresh.delivered")
        self._note(delivery.done(self._clock()))
        report.delivered += 1
        report.troubles.pop(delivery.slice, None)
        return True

    def _refreshed(self, delivery: SliceDelivery) -> RefreshedSlice:
        table = self._warehouse.table_path(delivery.slice.entity)
        return RefreshedSlice.of(self._warehouse.graph, delivery.slice, delivery.standing, table, self._target)

    def _fail(self, delivery: SliceDelivery, reason: str, report: RefreshReport, *, is_down: bool) -> None:
        report.troubles[delivery.slice] = reason
        if reason != delivery.reason:
            _LOGGER.warning("%s of %s waits: %s", self._target, delivery.slice, reason)
        failed = delivery.failed(reason, self._clock())
        self._note(failed)
        if is_down:
            self._asked_at = failed.due_at

    def _note(self, delivery: SliceDelivery) -> None:
        self._stored[delivery.slice.entity].put([delivery], self._fences)
        self._keep([delivery])

    def _keep(self, deliveries: Iterable[SliceDelivery]) -> None:
        for delivery in deliveries:
            self._deliveries[delivery.slice] = delivery
            if delivery.is_open:
                self._open[delivery.slice] = delivery
            else:
                self._open.pop(delivery.slice, None)

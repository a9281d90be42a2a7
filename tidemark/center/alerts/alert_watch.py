"""Looks for alerts in a separate thread at a bounded pace, and sends them in separate threads.

A tick only reports that the lease is held. Errors here are logged and tried again. A store or a receiver that does not
answer does not delay the tick.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.channels import Channels
from tidemark.alerts.courier import Courier
from tidemark.alerts.outbox import Outbox
from tidemark.center.alerts.anomaly_troubles import anomaly_troubles
from tidemark.center.alerts.failed_run_troubles import failed_run_troubles
from tidemark.center.alerts.promise_checks import PromiseChecks
from tidemark.center.alerts.promise_troubles import promise_troubles
from tidemark.center.alerts.rule_troubles import rule_troubles
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.dependency_model.status import Quality
from tidemark.state_store.broken_rules import broken_rules
from tidemark.state_store.failed_runs import failed_runs
from tidemark.state_store.open_anomalies import open_anomalies
from tidemark.system.due_times import DueTimes
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import dagster as dg

    from tidemark.center.baseline import CenterForecast
    from tidemark.center.center import DependencyCenter
    from tidemark.center.detectors.refused_events import RefusedEvent
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.settings import Settings

CURSOR: Final = "alerts about rules"
_SECONDS: Final = 1.0
"""Shortest time between two checks for due work."""
_SHARE: Final = 10.0
"""A forecast, or a check of anomalies, takes at most a tenth of the time."""
_LOOKED_BACK: Final = 10_000
"""The number of transitions to look at the first time."""
_ANOMALIES_TOLD_FOR: Final = timedelta(minutes=10)
"""Anomalies measured within this time are reported even if a later slice is usual; several checks fit into it."""
_REFUSED_TOLD_FOR: Final = timedelta(hours=1)
_KEPT_SECONDS: Final = 86_400.0
_JOIN_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 60.0
"""After this time without a call, the thread ends; the next call starts another one."""
_LOGGER: Final = logging.getLogger("tidemark.alerts")


class AlertWatch:
    """`clock` is the wall clock, aware; `env` has the channels' addresses."""

    def __init__(
        self,
        center: DependencyCenter,
        forecast: CenterForecast,
        settings: Settings,
        env: Mapping[str, str],
        clock: Callable[[], datetime] = utc_now,
        refused: RefusedEvents | None = None,
    ) -> None:
        self._center, self._forecast, self._clock = center, forecast, clock
        self._pace, self._history = settings.forecast_seconds, timedelta(days=settings.history_days)
        database = center.store.database
        self._book = AlertBook(database, lambda: center.store.write.fence)
        self._outbox = Outbox(database, lambda: center.store.write.fence)
        self._courier = Courier(self._outbox, Channels(env).send, clock)
        self._checks = PromiseChecks(self._book, center.graph)
        self._why: dict[Slice, str] = {}
        self._refused = refused or RefusedEvents(clock)
        self._policy = LaunchPolicy()
        self._due = DueTimes()
        self._isolated = IsolatedSteps()
        self._looked_until: int | None = None
        self._asked, self._closed = Event(), Event()
        self._thread: Thread | None = None

    def poll(self, instance: dg.DagsterInstance) -> None:
        """The lease is held: start a check for alerts, and send due messages.

        Report promises to Dagster that are at risk, or no longer at risk; a limited number at once.
        """
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self._serve, name="alerts", daemon=True)
            self._thread.start()
        self._asked.set()
        self._checks.report(instance)

    def close(self) -> None:
        """Wait some seconds for active work."""
        self._closed.set()
        self._asked.set()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
        self._courier.join(_JOIN_SECONDS)

    def look(self) -> None:
        """Raise and close alerts if it is time, and send due messages.

        An error in one kind of alert does not affect the others. Raises StateStoreDownError and FencedError.
        """
        run = self._isolated.run
        self._isolated.begin()
        if self._due.has_come("rules", self._pace):
            run("alerts about rules", self._look_at_rules, None)
            run("alerts about refused events", self._look_at_refused, None)
            run("alerts about failed runs", self._look_at_failed_runs, None)
        for name, look in (("anomalies", self._look_at_anomalies), ("promises", self._look_at_promises)):
            if self._due.has_come(name, self._pace):
                begun = time.monotonic()
                run(f"alerts about {name}", look, None)
                self._due.put_off(name, max(self._pace, _SHARE * (time.monotonic() - begun)))
        if self._due.has_come("old ones", _KEPT_SECONDS):
            run("old alerts", lambda: self._book.forget(self._clock() - self._history), None)
        run("sending of alerts", self._courier.dispatch, None)

    def _serve(self) -> None:
        while self._asked.wait(_IDLE_SECONDS) and not self._closed.is_set():
            self._asked.clear()
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - whatever it is, the tick goes on, and so do later alerts
                _LOGGER.warning("alerts wait: %s", error)
            self._closed.wait(_SECONDS)

    def _look_at_promises(self) -> None:
        alerts = self._book.open(AlertKind.BASELINE)
        if not alerts and not self._forecast.names:
            return
        judged = self._forecast.judge()
        troubles = promise_troubles(judged.open, alerts, self._center.graph, self._center.status)
        self._book.reconcile(AlertKind.BASELINE, troubles, judged.now)
        at_risk = {slice_: trouble.cause for trouble in troubles for slice_ in trouble.slices}
        self._checks.put(self._book.open(AlertKind.BASELINE) if troubles else (), judged.open, at_risk)

    def _look_at_rules(self) -> None:
        """Check slices with events since the last time, and slices in open alerts."""
        store = self._center.store
        last = store.read.last()
        if self._looked_until is None:
            stored = self._book.cursor(CURSOR)
            self._looked_until = int(stored) if stored else max(0, last - _LOOKED_BACK)
        told = broken_rules(store.database, self._looked_until, last) if last > self._looked_until else {}
        alerts = self._book.open(AlertKind.RULE)
        if not told and not alerts and last - self._looked_until < _LOOKED_BACK:
            return
        self._why = {**self._why, **told}
        troubles = rule_troubles(self._why, alerts, self._center.graph, self._center.status)
        named = {slice_ for trouble in troubles for slice_ in trouble.slices}
        self._why = {slice_: why for slice_, why in self._why.items() if str(slice_) in named}
        self._book.reconcile(AlertKind.RULE, troubles, self._clock(), {CURSOR: str(last)})
        self._looked_until = last

    def _look_at_refused(self) -> None:
        now = self._clock()
        refused = self._refused.since(now - _REFUSED_TOLD_FOR)
        if refused or self._book.open(AlertKind.REFUSED):
            self._book.reconcile(AlertKind.REFUSED, refused_troubles(refused, self._center.graph), now)

    def _look_at_failed_runs(self) -> None:
        alerts = self._book.open(AlertKind.FAILED_RUN)
        last = [slice_ for slice_ in self._center.failed_slices() if self._has_failed_for_good(slice_)]
        if last or alerts:
            failed = failed_runs(self._center.store.database, last)
            troubles = failed_run_troubles(failed, alerts, self._center.graph, self._center.status)
            self._book.reconcile(AlertKind.FAILED_RUN, troubles, self._clock())

    def _has_failed_for_good(self, slice_: Slice) -> bool:
        """Whether it is not retried automatically, was not cancelled by a user, and belongs to no alert about rules."""
        count, quality = self._center.failures(slice_), self._center.status(slice_).quality
        if count is None or count.is_held or quality is Quality.FAILED:
            return False
        return self._policy.tried_again_at(count) is None

    def _look_at_anomalies(self) -> None:
        """Check anomalies; a slice that was measured again and is usual has none."""
        now, alerts = self._clock(), self._book.open(AlertKind.ANOMALY)
        told = open_anomalies(self._center.store.database, now - _ANOMALIES_TOLD_FOR)
        if told or alerts:
            troubles = anomaly_troubles(told, alerts, self._center.graph, self._center.status)
            self._book.reconcile(AlertKind.ANOMALY, troubles, now)


def refused_troubles(refused: Sequence[RefusedEvent], graph: DependencyGraph) -> list[Trouble]:
    """`refused` are recent events, oldest first; the newest one is described in full."""
    newest = {event.entity: event for event in refused}
    return [_trouble(event, sum(other.entity == name for other in refused), graph) for name, event in newest.items()]


def _trouble(event: RefusedEvent, count: int, graph: DependencyGraph) -> Trouble:
    named = event.entity or "an entity without a name"
    cause = f"events of {named} cannot be taken in"
    channels = graph.entity(event.entity).notify if event.entity in graph else ()
    return Trouble(
        cause, f"{cause}: {count} were refused, the last one {event.source}: {event.why}", (), tuple(channels)
    )

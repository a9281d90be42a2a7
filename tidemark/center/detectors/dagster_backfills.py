"""Completes backfills that were started in Dagster's pages with the missing slices downstream.

Dagster follows only the chosen assets. Other slices built from them get a backfill of Tidemark, which waits for
Dagster's runs and rebuilds the rest. Slices that Dagster computes for the first time need none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.center.backfill_planning import plan_of
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.detectors.told_event import told_slice
from tidemark.dagster_internals.backfills import open_backfills
from tidemark.dependency_model.backfill import BackfillPhase, BackfillPlan
from tidemark.dependency_model.status import RunState
from tidemark.errors import TerminalError
from tidemark.state_store.backfills import BackfillRequest, Backfills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import dagster as dg

    from tidemark.center.center import DependencyCenter
    from tidemark.dagster_internals.backfills import OpenBackfill
    from tidemark.dependency_model.slice import Slice

_OF_DAGSTER: Final = "dagster:"
_UNDER_WAY: Final = (RunState.LAUNCHED, RunState.RUNNING)
_NOTHING_YET: Final = (RunState.WAITING, RunState.READY)


class DagsterBackfillDetector:
    """For one center; each backfill is checked once."""

    def __init__(
        self, center: DependencyCenter, clock: Callable[[], datetime], refused: RefusedEvents | None = None
    ) -> None:
        self._center, self._clock = center, clock
        self._refused = refused or RefusedEvents(clock)
        self._stored = Backfills(center.store.database)
        self._seen: set[str] = set()
        self._gone: set[int] = set()

    def poll(self, instance: dg.DagsterInstance) -> None:
        """Read new backfills before the results of their runs; then the ended ones."""
        going_on = {backfill.backfill_id: backfill for backfill in open_backfills(instance)}
        for backfill_id in going_on.keys() - self._seen:
            if self._stored.begun_by(_OF_DAGSTER + backfill_id) is None:
                self._try_to_complete(instance, going_on[backfill_id])
            self._seen.add(backfill_id)
        origins = {_OF_DAGSTER + backfill_id for backfill_id in going_on}
        gone = {
            row.number
            for row in self._stored.active()
            if row.request.origin.startswith(_OF_DAGSTER) and row.request.origin not in origins
        }
        for number in gone & self._gone:  # the results of its runs were read in between
            self._abandon(number)
        self._gone = gone

    def _try_to_complete(self, instance: dg.DagsterInstance, backfill: OpenBackfill) -> None:
        """Try to complete it; a backfill that is too large, or has invalid keys, stays unchanged in Dagster."""
        try:
            self._complete(backfill)
        except TerminalError as error:
            name = next((key.to_user_string() for key, _ in backfill.targets), "")
            self._refused.refuse(instance, name, f"Dagster's backfill {backfill.backfill_id}", error)

    def _complete(self, backfill: OpenBackfill) -> None:
        """Plan the missing slices, if there are any."""
        after = dict(self._rebuilt(backfill))
        plan = plan_of(self._center.graph, self._center.store, list(after), self._clock())
        if len(plan.members) == len(after):
            return
        members = {
            slice_: replace(member, after=after.get(slice_), is_root=slice_ in after)
            for slice_, member in plan.members.items()
        }
        asked = f"{len(after)} slices of Dagster's backfill {backfill.backfill_id}"
        request = BackfillRequest("dagster", "the slices that it leaves out", asked, _OF_DAGSTER + backfill.backfill_id)
        self._stored.add(BackfillPlan(members), request, BackfillPhase.RUNNING)

    def _rebuilt(self, backfill: OpenBackfill) -> Iterator[tuple[Slice, int]]:
        """Completed slices that it rebuilds, with the generation that this replaces."""
        graph = self._center.graph
        for key, partition in backfill.targets:
            name = key.to_user_string()
            if name not in graph:
                continue
            slice_ = told_slice(graph, name, partition)
            status = self._center.status(slice_)
            if status.run_state in _NOTHING_YET or (status.run_state in _UNDER_WAY and status.generation == 1):
                continue
            yield slice_, status.generation - (status.run_state in _UNDER_WAY)

    def _abandon(self, number: int) -> None:
        """Leave what Dagster did not compute; the results of its runs are known by now."""
        backfill = self._stored.load(number)
        left = {
            slice_
            for slice_ in backfill.turns
            if (after := backfill.plan.members[slice_].after) is not None
            and self._center.status(slice_).generation <= after
        }
        if left:
            self._stored.abandon(number, left)

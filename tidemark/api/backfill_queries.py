"""The HTTP interface's operations on backfills."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.api.backfill_models import (
    BackfillsModel,
    DecidedModel,
    PhaseModel,
    backfill_model,
    backfill_page_model,
    planned_model,
)
from tidemark.api.backfill_order import decision_of, order_of
from tidemark.center.backfill_planning import plan_of
from tidemark.center.backfill_preview import BackfillPreview
from tidemark.center.errors import RequestError
from tidemark.dependency_model.backfill import BackfillPhase
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.subject import MAX_SLICES, Allowance, no_slice_then, slices_of
from tidemark.state_store.audit_log import AuditEntry
from tidemark.state_store.backfills import BackfillRequest, Backfills

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.api.backfill_models import BackfillPageModel, PlannedBackfillModel
    from tidemark.api.backfill_order import BackfillOrder
    from tidemark.center.baseline import CenterForecast
    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.backfill import BackfillPlan
    from tidemark.dependency_model.backfill.progress import BackfillAction
    from tidemark.state_store.audit_log import AuditLog
    from tidemark.system.caller import Caller

MOST_PLANNED: Final = 20_000
"""The most slices of a plan over HTTP; `tidemark backfill` has no such limit."""


class BackfillQueries:
    """Reads and writes the backfills of a center's store, whichever center executes them."""

    def __init__(self, center: DependencyCenter, forecast: CenterForecast, audit: AuditLog) -> None:
        self._center, self._forecast, self._audit = center, forecast, audit
        self._stored = Backfills(center.store.database)

    def newest(self) -> BackfillsModel:
        """The newest backfills."""
        rows = self._stored.rows()
        counts = self._stored.counts([row.number for row in rows])
        return BackfillsModel(backfills=[backfill_model(row, counts[row.number]) for row in rows])

    def page(self, number: int, skipped: int, most: int) -> BackfillPageModel:
        """A backfill with some of its slices. Raises NoSuchBackfillError."""
        row, counts = self._stored.row(number), self._stored.counts([number])[number]
        return backfill_page_model(row, counts, self._stored.members(number, skipped, most))

    def act(self, number: int, action: BackfillAction, caller: Caller) -> PhaseModel:
        """Performs a person's action on a backfill. Raises NoSuchBackfillError and BackfillPhaseError."""
        self._stored.row(number)
        name = f"{action.name.lower()} backfill"
        self._audit.add(AuditEntry(caller.who, caller.source, name, f"backfill {number}"))
        row = self._stored.act(number, action)
        return PhaseModel(number=row.number, phase=row.phase.value)

    def decide(self, number: int, body: bytes, caller: Caller) -> DecidedModel:
        """Rebuilds or keeps slices that ask. Raises NoSuchBackfillError, RequestError and ParseError."""
        decision = decision_of(body)
        slices = None if decision.slices is None else {Slice.parse(text) for text in decision.slices}
        self._stored.row(number)
        what = f"{'rebuild' if decision.rebuild else 'keep'} slices of backfill"
        self._audit.add(AuditEntry(caller.who, caller.source, what, f"backfill {number}"))
        decided = self._stored.answer(number, slices, rebuild=decision.rebuild)
        return DecidedModel(number=number, decided=decided, rebuild=decision.rebuild)

    def plan(self, body: bytes, caller: Caller, require_wanted: Callable[[], None]) -> PlannedBackfillModel:
        """Plans a backfill, and stores the plan unless it is a dry run. Raises TidemarkError.

        `require_wanted` raises an error if the caller is gone or the plan took too long. Nothing is stored then.
        """
        require_wanted()
        order = order_of(body)
        origin = f"api:{order.event_id}" if order.event_id else ""
        known = self._stored.begun_by(origin) if origin and not order.dry_run else None
        plan = self._planned(order, require_wanted) if known is None else self._stored.load(known).plan
        require_wanted()
        preview = BackfillPreview.of(plan, self._stored, self._forecast.rebuilding)
        require_wanted()
        phase = BackfillPhase.RUNNING if order.approve else BackfillPhase.PLANNED
        if order.dry_run:
            return planned_model(preview, None, phase)
        action = "plan and approve backfill" if order.approve else "plan backfill"
        self._audit.add(AuditEntry(caller.who, caller.source, action, order.subject, order.why))
        request = BackfillRequest(caller.signature(order.who) or "api", order.why, order.subject, origin)
        number = self._stored.add(plan, request, phase)
        return planned_model(preview, number, self._stored.row(number).phase)

    def _planned(self, order: BackfillOrder, require_wanted: Callable[[], None]) -> BackfillPlan:
        graph = self._center.graph
        roots = slices_of(order.subject, graph, Allowance(MOST_PLANNED))
        if not roots:
            raise RequestError("the subject has no slices", found=order.subject)
        for root in roots:
            if not graph.exists(root):
                raise no_slice_then(graph, root.entity, str(root))
        _require_yes(order, f"{order.subject} means {len(roots):,} slices", len(roots))
        require_wanted()
        until = order.until or datetime.now(UTC)
        plan = plan_of(graph, self._center.store, roots, until, MOST_PLANNED, require_wanted)
        if not order.dry_run:
            _require_yes(order, f"{len(plan.rebuilt):,} slices would be rebuilt", len(plan.rebuilt))
        return plan


def _require_yes(order: BackfillOrder, what: str, count: int) -> None:
    """Raises RequestError if the number of slices may be a mistake."""
    if count > MAX_SLICES and not order.yes:
        raise RequestError(
            what,
            expected=f"at most {MAX_SLICES:,} without confirmation",
            found=f"{count:,}",
            where="backfill.yes",
            hint='add "yes": true to confirm; "dry_run": true shows what would be rebuilt',
        )

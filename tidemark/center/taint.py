"""Marks slices as wrong, with all slices built from them, with reason and author; a commit is atomic.

A repeated call completes an interrupted taint and skips tainted slices. A taint ends when a slice is computed again
from clean inputs (`status/transition.py`). A slice that is being computed from a tainted input gets the taint at its
end (`inputs_changed_during_run.py`). Source: seed capability D5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.impact.taint_plan import TaintPlan, taint_plan
from tidemark.dependency_model.status import Event, apply
from tidemark.state_store.errors import StateConflictError
from tidemark.state_store.transition import Transition
from tidemark.system.crash_points import crash_point
from tidemark.system.garbage_collection import pause_collection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.store import StateStore

_AT_ONCE: Final = 10_000
"""Most slices in one commit, so that other writers wait only briefly."""
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Taint:
    """A user's finding: `who` and `why` are stored with each slice. `now` is aware."""

    causes: tuple[Slice, ...]
    who: str
    why: str
    now: datetime


def plan_taint(graph: DependencyGraph, store: StateStore, taint: Taint) -> TaintPlan:
    """The slices that it would mark; nothing is changed. Raises UnknownEntityError and ParseError."""
    return _plan(graph, store, taint)[0]


def carry_out(graph: DependencyGraph, store: StateStore, taint: Taint) -> TaintPlan:
    """Mark slices; returns when this is durable. Plans again if another process writes at the same time.

    Raises UnknownEntityError, ParseError, and StateConflictError after too many conflicts: call again.
    """
    for tries_left in reversed(range(_TRIES)):
        last = store.read.last()
        with pause_collection():
            plan, statuses = _plan(graph, store, taint)
            try:
                _write(store, taint, plan, statuses, last)
            except StateConflictError:
                if not tries_left:
                    raise
            else:
                break
    return plan


def _plan(graph: DependencyGraph, store: StateStore, taint: Taint) -> tuple[TaintPlan, dict[Slice, SliceStatus]]:
    downstream = list(downstream_closure(graph, taint.causes, taint.now))
    concerned = [*taint.causes, *downstream]
    statuses = {current.slice: current.status for current in store.read.currents(concerned)}
    there = [slice_ for slice_ in downstream if slice_ in statuses]
    return taint_plan(graph, taint.causes, there, statuses, store.read.reads(there)), statuses


def _write(store: StateStore, taint: Taint, plan: TaintPlan, statuses: dict[Slice, SliceStatus], last: int) -> None:
    marked = list(plan.marked.items())
    for start in range(0, len(marked), _AT_ONCE):
        transitions = list(_transitions(taint, marked[start : start + _AT_ONCE], statuses, last))
        crash_point("taint.staged")
        last = store.write.append(transitions, after=last)
        crash_point("taint.written")


def _transitions(
    taint: Taint, marked: Sequence[tuple[Slice, Slice]], statuses: dict[Slice, SliceStatus], last: int
) -> Iterable[Transition]:
    for seq, (slice_, cause) in enumerate(marked, start=last + 1):
        yield Transition(
            seq=seq,
            event_id=f"taint:{seq}",
            slice=slice_,
            event=Event.TAINTED,
            status=apply(statuses[slice_], Event.TAINTED),
            who=taint.who,
            why=taint.why if cause == slice_ else f"{taint.why} (it read {cause})",
            event_time=taint.now,
            record_time=taint.now,
        )

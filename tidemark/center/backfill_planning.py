"""From slices that a person names to the plan of their backfill, with how long it probably takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.backfill import BackfillPlan, plan_backfill
from tidemark.dependency_model.impact import bounded_closure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore


def plan_of(
    graph: DependencyGraph, store: StateStore, roots: Sequence[Slice], until: datetime, most: int | None = None
) -> BackfillPlan:
    """What is rebuilt with these slices, of all that begins by `until` (aware); nothing is changed.

    With `most` no more slices may be downstream. Raises UnknownEntityError, ParseError and StateStoreDownError.
    """
    downstream = list(bounded_closure(graph, roots, until, most))
    statuses = {current.slice: current.status for current in store.read.currents([*roots, *downstream])}
    there = [slice_ for slice_ in downstream if slice_ in statuses]
    return plan_backfill(graph, roots, there, statuses, store.read.reads(there))

"""Plans a backfill from slices that a user names, with its estimated duration."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.backfill import BackfillPlan, plan_backfill
from tidemark.dependency_model.impact import bounded_closure
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.store import StateStore


_AT_ONCE: Final = 256


def _always_wanted() -> None:
    pass


def plan_of(
    graph: DependencyGraph,
    store: StateStore,
    roots: Sequence[Slice],
    until: datetime,
    most: int | None = None,
    require_wanted: Callable[[], None] = _always_wanted,
) -> BackfillPlan:
    """Plan to rebuild these slices and their downstream slices, starting by `until` (aware). Nothing is changed.

    `most` limits the number of downstream slices. `require_wanted` is called several times; it raises if the plan's
    caller is gone. Raises UnknownEntityError, ParseError and StateStoreDownError.
    """
    closure, downstream = iter(bounded_closure(graph, roots, until, most)), list[Slice]()
    while some := list(islice(closure, _AT_ONCE)):
        downstream += some
        require_wanted()
    statuses = {current.slice: current.status for current in store.read.currents([*roots, *downstream])}
    require_wanted()
    there = [slice_ for slice_ in downstream if slice_ in statuses]
    reads = store.read.reads(there)
    require_wanted()
    return plan_backfill(graph, roots, there, statuses, reads)

"""Plans of backfills from a project's state store, and their text for the terminal."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from tidemark.center.backfill_planning import plan_of
from tidemark.center.backfill_preview import BackfillPreview
from tidemark.center.baseline import Baselines, RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools, tag_of
from tidemark.console.errors import NothingComputedError
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.store import StateStore
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tidemark.dependency_model.backfill import BackfillPlan, Member
    from tidemark.dependency_model.baseline.repair_time import RepairTime
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.settings import Settings

_UNKNOWN = SliceStatus()


class BackfillPlanner:
    """Plans backfills of a project at an aware instant."""

    def __init__(self, graph: DependencyGraph, store: StateStore, pools: Pools, now: datetime) -> None:
        self.graph, self.backfills = graph, Backfills(store.database)
        self._store, self._pools, self._now = store, pools, now

    @classmethod
    def of(cls, settings: Settings, now: datetime) -> Self:
        """The planner of a project. Raises NothingComputedError and StateStoreDownError."""
        graph = load_warehouse(settings).graph
        if not settings.state and not settings.state_db.exists():
            raise NothingComputedError("nothing is computed yet, so there is nothing to rebuild")
        return cls(graph, StateStore.of(settings), Pools.parse(settings.pools), now)

    def plan(self, roots: Sequence[Slice], until: datetime) -> BackfillPreview:
        """Plan to rebuild these slices and the slices downstream that begin by `until` (aware)."""
        return self.preview(plan_of(self.graph, self._store, roots, until))

    def preview(self, planned: BackfillPlan) -> BackfillPreview:
        """A finished plan with its estimated duration."""
        return BackfillPreview.of(planned, self.backfills, self._rebuilding)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _rebuilding(self, slices: Sequence[Slice]) -> RepairTime:
        _, currents = self._store.read.everything()
        statuses = {current.slice: current.status for current in currents}
        history = RunHistory.read(self.graph, self._store.database, self._now)
        declared = DeclaredSlices(self.graph, self._pools)
        source = SliceSource(declared, lambda slice_: statuses.get(slice_, _UNKNOWN), history, self._now)
        return Baselines(source).rebuilding(slices)


def table_rows(graph: DependencyGraph, preview: BackfillPreview) -> list[list[str]]:
    """Rows of a table, one for each entity of a wave.

    Wave, entity, policy, pool, number of slices, first and last key.
    """
    return [_row(graph, group) for group in preview.groups]


def summary(preview: BackfillPreview) -> str:
    """One line: the number of slices, waves and runs, and the duration."""
    estimate, waves = preview.estimate, len(preview.planned.waves)
    p50, p90 = (timedelta(seconds=round(value)) for value in (estimate.p50, estimate.p90))
    text = f"{len(preview.planned.rebuilt):,} slices in {waves:,} {'wave' if waves == 1 else 'waves'}"
    return f"{text}, about {preview.runs:,} runs: {p50}(90 %: {p90})"


def _row(graph: DependencyGraph, group: Sequence[Member]) -> list[str]:
    member, last = group[0], group[-1].slice.key
    name, first = member.slice.entity, member.slice.key
    ends = first if first == last else f"{first} .. {last}"
    return [str(member.wave), name, _policy(member), tag_of(graph.entity(name)), f"{len(group):,}", ends]


def _policy(member: Member) -> str:
    if member.is_given:
        return "-"
    return "asked for" if member.is_root else member.policy.value

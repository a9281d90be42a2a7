"""What a backfill would rebuild, in how many runs and how long: the plan as people and programs are told it."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from tidemark.api.baseline_models import repair_model
from tidemark.center.backfill_planning import plan_of
from tidemark.center.baseline import Baselines, RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.dispatch import TOGETHER
from tidemark.center.pools import Pools, tag_of
from tidemark.console.errors import NothingComputedError
from tidemark.dependency_model.backfill.progress import ACTIVE
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.store import StateStore
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from tidemark.dependency_model.backfill import BackfillPlan, Member
    from tidemark.dependency_model.baseline.repair_time import RepairTime
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.settings import Settings

_UNKNOWN = SliceStatus()


class BackfillPreview:
    """One plan on the store of a project; `planned` and `estimate` are of the last `plan`."""

    planned: BackfillPlan
    estimate: RepairTime

    def __init__(self, graph: DependencyGraph, store: StateStore, pools: Pools, now: datetime) -> None:
        self.graph, self.backfills = graph, Backfills(store.database)
        self._store, self._pools, self._now = store, pools, now

    @classmethod
    def of(cls, settings: Settings, now: datetime) -> Self:
        """Of a project, at an aware instant. Raises NothingComputedError and StateStoreDownError."""
        graph = load_warehouse(settings).graph
        if not settings.state and not settings.state_db.exists():
            raise NothingComputedError("nothing was computed here yet: there is nothing to rebuild")
        return cls(graph, StateStore.of(settings), Pools.parse(settings.pools), now)

    def plan(self, roots: Sequence[Slice], until: datetime) -> None:
        """What is rebuilt with these slices, of all that begins by `until` (aware)."""
        self.take(plan_of(self.graph, self._store, roots, until))

    def take(self, planned: BackfillPlan) -> None:
        """A plan that was made elsewhere, with how long it probably takes."""
        self.planned = planned
        _, currents = self._store.read.everything()
        statuses = {current.slice: current.status for current in currents}
        history = RunHistory.read(self.graph, self._store.database, self._now)
        declared = DeclaredSlices(self.graph, self._pools)
        source = SliceSource(declared, lambda slice_: statuses.get(slice_, _UNKNOWN), history, self._now)
        self.estimate = Baselines(source).rebuilding(self.planned.rebuilt)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def rows(self) -> list[list[str]]:
        """A wave's slices of an entity each: wave, entity, policy, pool, how many, first and last key."""
        return [
            [str(wave), name, self._policy(group[0]), tag_of(self.graph.entity(name)), f"{len(group):,}", _ends(group)]
            for (wave, name), group in self._groups()
        ]

    def summary(self) -> str:
        """One line."""
        p50, p90 = (timedelta(seconds=round(value)) for value in (self.estimate.p50, self.estimate.p90))
        waves = len(self.planned.waves)
        text = f"{len(self.planned.rebuilt):,} slices in {waves:,} {'wave' if waves == 1 else 'waves'}"
        return f"{text}, about {self.runs:,} runs: {p50}, nine times of ten at most {p90}"

    @property
    def runs(self) -> int:
        """How many runs it takes where neighbours in time share them."""
        rebuilt = set(self.planned.rebuilt)
        groups = ([member for member in group if member.slice in rebuilt] for _, group in self._groups())
        return sum(ceil(len(group) / TOGETHER) for group in groups)

    def also_in(self) -> dict[int, int]:
        """By number of a backfill that goes on, how many of the slices it has, too."""
        others = (self.backfills.load(row.number) for row in self.backfills.rows(ACTIVE))
        shared = {other.number: sum(map(other.is_open, self.planned.members)) for other in others}
        return {number: count for number, count in shared.items() if count}

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "waves": len(self.planned.waves),
            "runs": self.runs,
            "slices": [
                {
                    "slice": str(member.slice),
                    "wave": member.wave,
                    "policy": member.policy.value,
                    "root": member.is_root,
                    "given": member.is_given,
                }
                for member in self.planned.members.values()
            ],
            "estimate": repair_model(self.estimate).model_dump(),
            "also_in": {str(number): count for number, count in self.also_in().items()},
        }

    def _groups(self) -> Iterator[tuple[tuple[int, str], list[Member]]]:
        ordered = sorted(self.planned.members.values(), key=lambda member: (member.wave, member.slice))
        for key, group in groupby(ordered, key=lambda member: (member.wave, member.slice.entity)):
            yield key, list(group)

    @staticmethod
    def _policy(member: Member) -> str:
        if member.is_given:
            return "as it is"
        return "asked for" if member.is_root else member.policy.value


def _ends(group: Sequence[Member]) -> str:
    first, last = group[0].slice.key, group[-1].slice.key
    return first if first == last else f"{first} .. {last}"

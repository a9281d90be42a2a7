"""A preview of a backfill: slices, number of runs, duration."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Self

from tidemark.center.dispatch import TOGETHER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.dependency_model.backfill import BackfillPlan, Member
    from tidemark.dependency_model.baseline.repair_time import RepairTime
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.backfills import Backfills


@dataclass(frozen=True)
class BackfillPreview:
    """A plan; `also_in` counts its slices that active backfills still have to settle."""

    planned: BackfillPlan
    estimate: RepairTime
    also_in: Mapping[int, int]

    @classmethod
    def of(cls, planned: BackfillPlan, stored: Backfills, rebuilding: Callable[[Sequence[Slice]], RepairTime]) -> Self:
        """The preview; `rebuilding` estimates durations. Raises StateStoreDownError."""
        holders = stored.holders(planned.members)
        also_in = Counter(number for numbers in holders.values() for number in numbers)
        return cls(planned, rebuilding(planned.rebuilt), dict(sorted(also_in.items())))

    @cached_property
    def groups(self) -> tuple[tuple[Member, ...], ...]:
        """Members by wave and entity, in order of time."""
        ordered = sorted(self.planned.members.values(), key=lambda member: (member.wave, member.slice))
        alike = groupby(ordered, key=lambda member: (member.wave, member.slice.entity))
        return tuple(tuple(group) for _, group in alike)

    @property
    def runs(self) -> int:
        """The number of runs, where neighbours in time share a run."""
        rebuilt = set(self.planned.rebuilt)
        return sum(ceil(sum(member.slice in rebuilt for member in group) / TOGETHER) for group in self.groups)

"""Groups ready slices into runs.

Neighbours in time of one entity share a run. If pools are full, a run also has several entities at the same times: one
slot's share of the waiting slices, so that large runs come first, small ones last, and all slots finish together.

Source: Polychronopoulos and Kuck, Guided self-scheduling, IEEE Transactions on Computers C-36 (1987).
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from tidemark.center.pools import tag_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.center import DependencyCenter
    from tidemark.center.launch_order import LaunchOrder
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


def exact_part(graph: DependencyGraph, slices: Sequence[Slice]) -> list[Slice]:
    """The first slices that a range of times and assets in Dagster describes exactly.

    They are grouped by entity, in order of time.
    """
    by_entity: dict[str, list[Slice]] = {}
    for slice_ in slices:
        by_entity.setdefault(slice_.entity, []).append(slice_)
    first, *others = by_entity.values()
    stretch = first[:1]
    for slice_ in first[1:]:
        if graph.window(stretch[-1]).end != graph.window(slice_).start:
            break
        stretch.append(slice_)
    keys = [slice_.key for slice_ in stretch]
    alike = (own for own in others if [slice_.key for slice_ in own] == keys)
    return [*stretch, *(slice_ for own in alike for slice_ in own)]


class RunGrouping:
    """At most `together` neighbours of an entity, and `across` entities, in a run."""

    def __init__(self, center: DependencyCenter, pools: Pools, order: LaunchOrder, together: int, across: int) -> None:
        self._center, self._pools, self._together, self._across = center, pools, together, across
        self._order = order

    def groups(self, busy: Counter[str]) -> list[list[Slice]]:
        """Ready slices as runs, the most urgent first; `busy` is the number of runs in each pool."""
        groups = self._neighbours()
        return self._share_runs(groups) if len(groups) > self._pools.room(busy) else groups

    def is_promised(self, group: Sequence[Slice]) -> bool:
        """Whether a promise is behind a run, as known at the last grouping."""
        return self._order.is_promised(group)

    def _neighbours(self) -> list[list[Slice]]:
        """Ready slices in the order of launches, neighbours in time of one entity together.

        Slices of a backfill share runs only with each other, and come last, earlier backfills first. Slices behind a
        promise keep their place.
        """
        graph = self._center.graph
        groups: list[list[Slice]] = []
        free = [slice_ for slice_ in self._center.ready() if not self._center.backfills.is_held(slice_)]
        ready = sorted(free, key=lambda slice_: (slice_.entity, slice_.sub, graph.window(slice_).start))
        for slice_ in ready:
            last = groups[-1] if groups else None
            if last and len(last) < self._together and self._follows(last[-1], slice_):
                last.append(slice_)
            else:
                groups.append([slice_])
        return sorted(self._order.sort(groups), key=self._rank)

    def _rank(self, group: Sequence[Slice]) -> int:
        number = self._center.backfills.number_of(group[0])
        return 0 if number is None or self._order.is_promised(group) else number

    def _share_runs(self, groups: Sequence[list[Slice]]) -> list[list[Slice]]:
        """Combine groups of different entities at the same times and in the same pools, in order."""
        shared: list[list[Slice]] = []
        limits = self._limits(groups)
        open_at: dict[object, tuple[list[Slice], int]] = {}
        for group in groups:
            if any(self._center.has_failed_before(slice_) for slice_ in group):
                shared.append(group)
                continue
            alike = self._alike(group)
            run, entities = open_at.get(alike, (group, 0))
            if 0 < entities < limits[self._tag(group[0])]:
                run.extend(group)
            else:
                shared.append(run := group)
                entities = 0
            open_at[alike] = (run, entities + 1)
        return shared

    def _alike(self, group: Sequence[Slice]) -> object:
        """Common properties of the groups in one run."""
        period = str(self._center.graph.entity(group[0].entity).period)
        of_backfill = self._center.backfills.number_of(group[0])
        taken = self._pools.places.of_slice(self._center.graph.entity(group[0].entity), group[0])
        return period, self._tag(group[0]), taken, group[0].sub, of_backfill, tuple(slice_.key for slice_ in group)

    def _tag(self, slice_: Slice) -> str:
        return tag_of(self._center.graph.entity(slice_.entity))

    def _limits(self, groups: Sequence[list[Slice]]) -> dict[str, int]:
        """The most entities in a run, by pool tag: one slot's share of the waiting ones."""
        waiting = Counter(self._tag(group[0]) for group in groups)
        return {tag: min(self._across, ceil(count / max(1, self._pools.slots(tag)))) for tag, count in waiting.items()}

    def _follows(self, before: Slice, after: Slice) -> bool:
        """Whether one run may have both: the next slice of the same entity, without retries.

        Dagster has only ranges of times: parts of a slice have separate runs.
        """
        graph = self._center.graph
        if before.sub or graph.entity(before.entity).is_static:
            return False
        backfill_of = self._center.backfills.number_of
        if backfill_of(before) != backfill_of(after):
            return False
        is_next = before[::2] == after[::2] and graph.window(before).end == graph.window(after).start
        return is_next and not any(self._center.has_failed_before(slice_) for slice_ in (before, after))

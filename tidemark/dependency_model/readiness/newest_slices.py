"""The known slices of each entity and sub-partition in order of time, for clauses that take the newest slice.

Slices before a place's boundary are read from the archive in pages, when a search reaches them. The repeated hours of a
day do not sort as text in their order of time, so pages of hours and minutes end at days.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from contextlib import suppress
from typing import TYPE_CHECKING

from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.readiness.status_table import StatusTable
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus

    Place = tuple[str, tuple[tuple[str, str], ...]]

_PAGE = 4
_CLOCK_PAGE = 400
"""More than the slices of any day."""


class NewestSlices:
    """Only entities with a reader of their newest slice are kept in order."""

    def __init__(self, graph: DependencyGraph, statuses: StatusTable) -> None:
        self._graph, self._statuses = graph, statuses
        self._boundaries: dict[Place, str] = {}
        self._ordered: dict[Place, list[int]] = {}
        self._entities = {name for name in graph if _has_latest_downstream(graph, name)}

    def __contains__(self, entity: str) -> bool:
        return entity in self._entities

    def refresh(self, names: Iterable[str]) -> None:
        """Updates entities whose declaration or dependencies changed:

        the set of entities with such readers may change.
        """
        ups = {edge.up.name for name in names if name in self._graph for edge in self._graph.upstream_edges(name)}
        changed = {*names, *ups}
        wanted = {name for name in changed if name in self._graph and _has_latest_downstream(self._graph, name)}
        for place in [place for place in self._ordered if place[0] in changed - wanted]:
            del self._ordered[place]
        self._boundaries = {place: text for place, text in self._boundaries.items() if place[0] not in changed}
        self._entities = (self._entities - changed) | wanted
        for slice_ in [slice_ for slice_ in self._statuses if slice_.entity in wanted]:
            with suppress(ParseError):  # its entity has another period now
                self.add(slice_)

    def add(self, slice_: Slice) -> None:
        """Adds a known slice of one of the entities."""
        ordinals = self._ordered.setdefault((slice_.entity, slice_.sub), [])
        ordinal = self._graph.node(slice_.entity).ordinal(slice_)
        at = bisect_right(ordinals, ordinal)
        if not at or ordinals[at - 1] != ordinal:
            insort(ordinals, ordinal)

    def fetch(self, places: Iterable[Place]) -> None:
        """Reads the first page of each place that has none yet."""
        archive = self._statuses.archive
        new = [place for place in places if place not in self._boundaries] if archive.floor else []
        for limit in (_PAGE, _CLOCK_PAGE):
            group = [place for place in new if self._page_of(place) == limit]
            if group:
                self._read(group, archive.floor, limit)

    def find(self, slice_: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        """The newest slice up to this one whose status is accepted."""
        node, place = self._graph.node(slice_.entity), (slice_.entity, slice_.sub)
        last = node.ordinal(slice_)
        while True:
            boundary = self._boundaries.get(place, self._statuses.archive.floor)
            ordinals = self._ordered.get(place, [])
            for at in range(bisect_right(ordinals, last) - 1, -1, -1):
                candidate = node.slice(ordinals[at], slice_.sub)
                if candidate.key < boundary:
                    break
                status = self._statuses.get(candidate)
                if status is not None and accepts(status):
                    return candidate
            if not boundary:
                return None
            self._read((place,), boundary, self._page_of(place))

    def _page_of(self, place: Place) -> int:
        period = self._graph.node(place[0]).period
        return _CLOCK_PAGE if period is not None and period.is_clock else _PAGE

    def _read(self, places: Collection[Place], before: str, limit: int) -> None:
        """Reads one page of each place, and moves the boundary before which slices are not completely read."""
        pages: dict[Place, list[str]] = {place: [] for place in places}
        for known_slice in self._statuses.archive.older(places, before, limit):
            self._statuses.add(*known_slice)
            pages[known_slice.slice.entity, known_slice.slice.sub].append(known_slice.slice.key)
            with suppress(ParseError):  # its entity has another period now
                self.add(known_slice.slice)
        for place, keys in pages.items():
            lowest = min(keys, default="")
            is_last = len(keys) < limit
            self._boundaries[place] = "" if is_last else lowest[:10] + "~" if limit == _CLOCK_PAGE else lowest


def _has_latest_downstream(graph: DependencyGraph, name: str) -> bool:
    return any(edge.is_latest for edge in graph.downstream_edges(name))

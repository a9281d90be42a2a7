"""The order in which entities can be computed, and the entities in cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.graph.reach_ahead_in_time import latest_reach

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tidemark.dependency_model.graph.adjacency import Adjacency
    from tidemark.dependency_model.graph.edge import Edge


def topological_order(edges: Adjacency) -> tuple[str, ...]:
    """Each entity after the entities that it needs. Cycles that go back in time are cut there.

    Entities in an invalid cycle (validation reports it) come last, as declared.
    """
    order = _order(edges, lambda edge: edge.up is not edge.down)
    if len(order) < len(edges.upstream):
        after = edges.upstream.keys() - set(order)
        order = _order(edges, lambda edge: edge.down.name not in after or latest_reach(edge) >= 0)
    ordered = set(order)
    return (*order, *(name for name in edges.upstream if name not in ordered))


def on_or_between_cycles(edges: Adjacency) -> dict[str, list[str]]:
    """The entities on or between cycles, each with its upstream entities in this set. Empty without cycles."""
    before = set(_order(edges, lambda edge: edge.up is not edge.down))
    left = {name for name in edges.upstream if name not in before}
    downstream = {name: sum(edge.down.name in left for edge in edges.downstream[name]) for name in left}
    ends = [name for name, count in downstream.items() if not count]
    for name in ends:
        left.remove(name)
        for edge in edges.upstream[name]:
            if edge.up.name in left:
                downstream[edge.up.name] -= 1
                if not downstream[edge.up.name]:
                    ends.append(edge.up.name)
    return {name: _names_upstream(edges, name, left) for name in edges.upstream if name in left}


def _names_upstream(edges: Adjacency, name: str, among: Collection[str]) -> list[str]:
    return [edge.up.name for edge in edges.upstream[name] if edge.up.name in among]


def components(upstream: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The strongly connected components with more than one name (Tarjan 1972, without recursion)."""
    search = _Tarjan(upstream)
    for name in upstream:
        if name not in search.index:
            search.visit(name)
    return search.components


class _Tarjan:
    def __init__(self, upstream: Mapping[str, Sequence[str]]) -> None:
        self.upstream = upstream
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.on_stack: set[str] = set()
        self.components: list[list[str]] = []

    def visit(self, root: str) -> None:
        work = [(root, self._enter(root))]
        while work:
            name, waiting = work[-1]
            if waiting:
                after = waiting.pop()
                if after not in self.index:
                    work.append((after, self._enter(after)))
                elif after in self.on_stack:
                    self.low[name] = min(self.low[name], self.index[after])
                continue
            work.pop()
            if work:
                self.low[work[-1][0]] = min(self.low[work[-1][0]], self.low[name])
            if self.low[name] == self.index[name]:
                self._close(name)

    def _enter(self, name: str) -> list[str]:
        self.index[name] = self.low[name] = len(self.index)
        self.stack.append(name)
        self.on_stack.add(name)
        return list(self.upstream[name])

    def _close(self, name: str) -> None:
        at = self.stack.index(name)
        component, self.stack[at:] = self.stack[at:], []
        self.on_stack.difference_update(component)
        if len(component) > 1:
            self.components.append(component)


def _order(edges: Adjacency, counts: Callable[[Edge], bool]) -> list[str]:
    """Kahn's order over the edges that `counts` accepts. Ties keep the order of declaration."""
    waiting = {name: sum(map(counts, upstream)) for name, upstream in edges.upstream.items()}
    order = [name for name, needed in waiting.items() if not needed]
    for name in order:
        for edge in edges.downstream[name]:
            if counts(edge):
                waiting[edge.down.name] -= 1
                if not waiting[edge.down.name]:
                    order.append(edge.down.name)
    return order

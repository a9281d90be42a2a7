"""The order in which entities can be computed, and what is left over where they go in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.graph.reach import latest_reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.node import Node


def topological_order(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Each entity after those that it needs; circles that lead back in time are cut where they do.

    What goes in a true circle (a problem that validation reports) comes last, as declared.
    """
    order = _ordered(nodes, lambda edge: edge.up is not edge.down)
    if len(order) < len(nodes):
        after = nodes.keys() - set(order)
        order = _ordered(nodes, lambda edge: edge.down.name not in after or latest_reach(edge) >= 0)
    ordered = set(order)
    return (*order, *(name for name in nodes if name not in ordered))


def circling(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """The entities on a circle or between two circles; none of a graph without."""
    before = set(_ordered(nodes, lambda edge: edge.up is not edge.down))
    left = {name: node for name, node in nodes.items() if name not in before}
    users = {name: sum(edge.down.name in left for edge in node.users) for name, node in left.items()}
    ends = [name for name, count in users.items() if not count]
    for name in ends:
        for edge in left.pop(name).upstream:
            if edge.up.name in left:
                users[edge.up.name] -= 1
                if not users[edge.up.name]:
                    ends.append(edge.up.name)
    return left


def components(nodes: Mapping[str, Node]) -> list[list[str]]:
    """The strongly connected components with more than one entity (Tarjan 1972, without recursion)."""
    search = _Tarjan(nodes)
    for name in nodes:
        if name not in search.index:
            search.visit(name)
    return search.found


class _Tarjan:
    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.nodes = nodes
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.on_stack: set[str] = set()
        self.found: list[list[str]] = []

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
        return [edge.up.name for edge in self.nodes[name].upstream if edge.up.name in self.nodes]

    def _close(self, name: str) -> None:
        at = self.stack.index(name)
        component, self.stack[at:] = self.stack[at:], []
        self.on_stack.difference_update(component)
        if len(component) > 1:
            self.found.append(component)


def _ordered(nodes: Mapping[str, Node], counts: Callable[[Edge], bool]) -> list[str]:
    """Kahn's order over the edges that count, by name of declaration where several are free."""
    waiting = {name: sum(map(counts, node.upstream)) for name, node in nodes.items()}
    order = [name for name, needed in waiting.items() if not needed]
    for name in order:
        for edge in nodes[name].users:
            if counts(edge):
                waiting[edge.down.name] -= 1
                if not waiting[edge.down.name]:
                    order.append(edge.down.name)
    return order

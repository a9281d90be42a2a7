"""The graph: which slices a slice needs, which need it, and how it changes entity by entity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dependency_model.entity.catalog import Catalog
from dependency_model.entity.dependency import COMPLETED, Dependency
from dependency_model.errors import EntityError, UnknownEntityError
from dependency_model.graph.edge import Edge
from dependency_model.graph.node import WHOLE, Node
from dependency_model.graph.requirement import Requirement
from dependency_model.offset.offset import SAME
from dependency_model.suggestion import did_you_mean, shown
from dependency_model.time.calendar import checked_seconds
from dependency_model.time.window import Window, seconds_of
from dependency_model.time.zone import DAY_SECONDS, LAST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from dependency_model.entity.entity import Entity
    from dependency_model.entity.sub_partition import Sub
    from dependency_model.slice import Slice


class DependencyGraph:
    """Built once, changed entity by entity. Questions about an unknown entity raise UnknownEntityError."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._broken: dict[str, list[EntityError]] = {}
        self._wanted: dict[str, dict[str, None]] = {}

    @classmethod
    def build(cls, entities: Iterable[Entity] | Catalog) -> DependencyGraph:
        """The graph of these entities. What is wrong with it, `problems()` says."""
        graph = cls()
        declared = entities.values() if isinstance(entities, Catalog) else entities
        graph._nodes = {entity.name: Node(entity) for entity in declared}
        for node in graph._nodes.values():
            graph._connect(node)
        return graph

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def entity(self, name: str) -> Entity:
        """The declaration of an entity."""
        return self._node(name).entity

    def requirements(self, piece: Slice, state: str = COMPLETED) -> tuple[Requirement, ...]:
        """Clause by clause, the exact upstream slices that a slice needs to reach a state."""
        node = self._node(piece.entity)
        ordinal = node.ordinal(piece)
        if piece.sub == WHOLE and node.parts != (WHOLE,):
            return (_roll_up(node, ordinal),)
        return tuple(
            [
                Requirement(edge.dependency, edge.expand(ordinal, piece.sub), edge.is_latest)
                for edge in node.upstream.get(state, ())
            ]
        )

    def downstream(self, piece: Slice, until: datetime | None = None) -> tuple[Slice, ...]:
        """Every slice that needs this one, in order of entity, time and part.

        Users without an end of their own (of a static slice; those that would take this slice as an older
        `last_available`) are named up to `until`; without it, those that would take it as the newest one.
        """
        node = self._node(piece.entity)
        ordinal, limit = node.ordinal(piece), checked_seconds(until) if until else None
        parts = node.parts if piece.sub == WHOLE else (piece.sub,)
        found = {
            (edge.down.name, down, sub): edge.down
            for edge in node.users
            for part in parts
            for down, sub in edge.inverse(ordinal, part, limit)
        }
        return tuple(found[place].slice(place[1], place[2]) for place in sorted(found))

    def window(self, piece: Slice) -> Window:
        """The stretch of time of a slice; of a static one, all of it."""
        node = self._node(piece.entity)
        grid, ordinal = node.grid_of(piece.sub), node.ordinal(piece)
        return grid.window(ordinal) if grid else Window.of_seconds(0, LAST_DAY * DAY_SECONDS)

    def exists(self, piece: Slice) -> bool:
        """Whether the slice is not before its entity's start. Raises ParseError for a key that is none."""
        node = self._node(piece.entity)
        return node.ordinal(piece) >= node.first_of(piece.sub)

    def slices(self, entity: str, until: datetime) -> Iterator[Slice]:
        """Every slice whose window ended by an instant, in order of time, part by part."""
        node, limit = self._node(entity), seconds_of(until)
        for part in node.parts:
            grid, ordinal = node.grid_of(part), node.first_of(part)
            if grid is None:
                yield node.slice(0, part)
                continue
            while grid.start(ordinal + 1) <= limit:
                yield node.slice(ordinal, part)
                ordinal += 1

    def slice_at(self, entity: str, instant: datetime, sub: Sub = WHOLE) -> Slice:
        """The slice that an instant lies in."""
        node = self._node(entity)
        grid = node.grid_of(sub)
        return node.slice(grid.at(checked_seconds(instant)) if grid else 0, sub)

    def problems(self) -> tuple[EntityError, ...]:
        """Everything that is wrong between the entities."""
        return tuple(problem for name in self._nodes for problem in self._broken.get(name, ()))

    def topological(self) -> tuple[str, ...]:
        """The names of all entities, every one after those that it needs."""
        waiting = {
            name: {e.up.name for es in n.upstream.values() for e in es} - {name} for name, n in self._nodes.items()
        }
        ready = [name for name, needed in waiting.items() if not needed]
        for name in ready:
            for edge in self._nodes[name].users:
                needed = waiting[edge.down.name]
                if name in needed:
                    needed.remove(name)
                    if not needed:
                        ready.append(edge.down.name)
        return tuple(ready)

    def _node(self, name: str) -> Node:
        node = self._nodes.get(name)
        if node is None:
            raise UnknownEntityError("no such entity", found=shown(name), hint=did_you_mean(name, self._nodes))
        return node

    def _connect(self, node: Node) -> None:
        """Draw the edges of what an entity declares."""
        for state in node.entity.states:
            edges = [self._edge(node, dependency, state.entity_state) for dependency in state.depends_on]
            node.upstream[state.entity_state] = tuple(edge for edge in edges if edge)
        for edge in (edge for edges in node.upstream.values() for edge in edges):
            edge.up.users.append(edge)

    def _edge(self, node: Node, dependency: Dependency, state: str) -> Edge | None:
        up = self._nodes.get(dependency.entity)
        if up is None:
            self._wanted.setdefault(dependency.entity, {})[node.name] = None
            hint = did_you_mean(dependency.entity, self._nodes)
            self._note(node, EntityError(f"depends on the unknown entity '{dependency.entity}'", hint=hint))
            return None
        try:
            return Edge(node, up, dependency, state)
        except EntityError as error:
            self._note(node, error)
            return None

    def _note(self, node: Node, problem: EntityError) -> None:
        problem.where = f"{node.entity.file}: {node.name}"
        self._broken.setdefault(node.name, []).append(problem)


def _roll_up(node: Node, ordinal: int) -> Requirement:
    """The whole of a slice with parts: there once all of them are."""
    parts = tuple(node.slice(ordinal, part) for part in node.parts if ordinal >= node.first_of(part))
    return Requirement(Dependency(entity=node.name, offset=SAME), parts)

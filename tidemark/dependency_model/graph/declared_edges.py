"""The edges between declared entities, updated as entities are added, changed and removed.

A change recomputes only the edges of the entity and of the entities that name it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.graph.adjacency import Adjacency
from tidemark.dependency_model.graph.edge import Edge
from tidemark.dependency_model.graph.node import Node
from tidemark.dependency_model.graph.project_root_and_end import end_of, member_of, root_name, root_of
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.entity.entity import Entity


class DeclaredEdges:
    """`declared` are the entities as declared, `nodes` their nodes in the graph (a project has two).

    `_unmet` maps a requested name to the entities whose dependency on it has no edge: a change may repair it.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self.declared: dict[str, Entity] = {}
        self.nodes: dict[str, Node] = {}
        self.adjacency = Adjacency()
        self.broken: dict[str, list[EntityError]] = {}
        self._unmet: dict[str, set[str]] = {}
        self._members: dict[str, set[str]] = {}
        for entity in entities:
            self._declare(entity)
        for entity in self.declared.values():
            self._stand(entity)
        for node in self.nodes.values():
            self._connect(node)

    def put(self, entity: Entity) -> None:
        """Adds an entity, or replaces the entity with its name."""
        touched = self._remove(entity.name)
        self._declare(entity)
        self._stand(entity)
        touched |= self._neighbours(entity)
        for name in sorted(touched):
            self._redraw(name)

    def remove(self, name: str) -> None:
        """Removes an entity. Its readers then depend on an unknown entity."""
        for touched in sorted(self._remove(name)):
            self._redraw(touched)

    def series(self, name: str) -> list[str]:
        """The entities of a series, sorted by name."""
        return sorted(entity.name for entity in self.declared.values() if entity.series == name)

    def _remove(self, name: str) -> set[str]:
        """Removes an entity. Returns the names of entities whose edges must be recomputed."""
        entity = self.declared.pop(name, None)
        if entity is None:
            return set()
        touched = self._neighbours(entity)
        if entity.project:
            self._members[entity.project].discard(name)
        for gone in _standing_for(entity):
            touched.update(self.adjacency.remove(gone))
            del self.nodes[gone]
            self._forget_problems(gone)
        return touched

    def _neighbours(self, entity: Entity) -> set[str]:
        """The entities whose edges depend on whether this entity exists."""
        touched = {name for stand in _standing_for(entity) for name in self._unmet.get(stand, ())}
        touched |= {*_standing_for(entity)}
        if entity.is_project:
            touched |= self._members.get(entity.name, set())
        elif entity.project:
            touched.add(entity.project)
        return touched

    def _declare(self, entity: Entity) -> None:
        self.declared[entity.name] = entity
        if entity.project:
            self._members.setdefault(entity.project, set()).add(entity.name)

    def _stand(self, entity: Entity) -> None:
        for name in _standing_for(entity):
            self.nodes[name] = Node(root_of(entity) if name != entity.name else entity)
            self.adjacency.add(name)

    def _redraw(self, name: str) -> None:
        node = self.nodes.get(name)
        if node is None:
            return
        self.adjacency.disconnect(name)
        self._forget_problems(name)
        self._connect(node)

    def _forget_problems(self, name: str) -> None:
        self.broken.pop(name, None)
        for names in self._unmet.values():
            names.discard(name)

    def _connect(self, node: Node) -> None:
        drawn = (self._edge(node, dependency, state) for state, dependency in self._dependencies(node))
        self.adjacency.connect(node.name, [edge for edge in drawn if edge])

    def _dependencies(self, node: Node) -> Iterator[tuple[str, Dependency]]:
        """The state and dependency of all inputs of an entity, from its declaration and its project."""
        entity = node.entity
        if entity.is_project:
            if node.name in self.declared:
                entity = end_of(entity, sorted(self._members.get(entity.name, ())))
        elif entity.project:
            entity = self._with_root(node, entity)
        for state in entity.states:
            for dependency in state.depends_on:
                yield state.entity_state, dependency

    def _with_root(self, node: Node, entity: Entity) -> Entity:
        project = self.declared.get(entity.project or "")
        if project is not None and project.is_project:
            return member_of(entity)
        self._unmet.setdefault(root_name(entity.project or ""), set()).add(node.name)
        self._note(node, EntityError("unknown project", found=entity.project), str(entity.project))
        return entity

    def _edge(self, node: Node, dependency: Dependency, state: str) -> Edge | None:
        up = self.nodes.get(dependency.entity)
        try:
            if up is not None:
                return Edge(node, up, dependency, state)
            problem = EntityError("depends on an unknown entity", found=dependency.entity)
        except EntityError as error:
            problem = error
        self._unmet.setdefault(dependency.entity, set()).add(node.name)
        self._note(node, problem, dependency.entity)
        return None

    def _note(self, node: Node, problem: EntityError, word: str) -> None:
        self.broken.setdefault(node.name, []).append(with_place(problem, node.entity, word))


def with_place(problem: EntityError, entity: Entity, word: str) -> EntityError:
    """The problem with the file and the word to correct."""
    problem.where = entity.file or entity.name
    problem.word = word
    return problem


def _standing_for(entity: Entity) -> tuple[str, ...]:
    return (entity.name, root_name(entity.name)) if entity.is_project else (entity.name,)

"""The graph: which slices a slice needs and which need it. It changes entity by entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar, cast

from tidemark.dependency_model.entity.dependency import COMPLETED, Dependency, Weak
from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.graph.declared_edges import DeclaredEdges
from tidemark.dependency_model.graph.requirement import Requirement
from tidemark.dependency_model.graph.topological_order import topological_order
from tidemark.dependency_model.graph.validation import problems_of
from tidemark.dependency_model.offset.offset import SAME
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.local_calendar import checked_seconds
from tidemark.dependency_model.time.window import Window, seconds_of
from tidemark.dependency_model.time.zone import DAY_SECONDS, LAST_DAY
from tidemark.errors import ParseError, UnknownEntityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.errors import EntityError

_Result = TypeVar("_Result")
Side = Literal["inside", "around"]


class DependencyGraph:
    """Built once, then changed entity by entity. Methods raise UnknownEntityError for an unknown entity."""

    def __init__(self, edges: DeclaredEdges) -> None:
        self._declared_edges = edges
        self._nodes = edges.nodes
        self._edges = edges.adjacency
        self._kept: dict[Callable[[DeclaredEdges], object], object] = {}

    @classmethod
    def build(cls, entities: Iterable[Entity] | Mapping[str, Entity]) -> DependencyGraph:
        """The graph of these entities. `problems()` has the errors in it."""
        return cls(DeclaredEdges(entities if not hasattr(entities, "values") else entities.values()))

    def put(self, entity: Entity) -> None:
        """Adds an entity, or replaces the entity with its name. The graph is then as if it was built so."""
        self._declared_edges.put(entity)
        self._kept.clear()

    def remove(self, name: str) -> None:
        """Removes an entity. The graph is then as if it was built without it."""
        self._node(name)
        self._declared_edges.remove(name)
        self._kept.clear()

    def kept(self, work_out: Callable[[DeclaredEdges], _Result]) -> _Result:
        """A value computed from all edges, cached until the graph changes."""
        if work_out not in self._kept:
            self._kept[work_out] = work_out(self._declared_edges)
        return cast("_Result", self._kept[work_out])

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def entity(self, name: str) -> Entity:
        """The declaration of an entity."""
        return self._node(name).entity

    def node(self, name: str) -> Node:
        """An entity with numbered slices, for callers that process many slices."""
        return self._node(name)

    def upstream_edges(self, name: str) -> tuple[Edge, ...]:
        """The dependencies of an entity in all its states, in the order of its declaration."""
        return self._edges.upstream[self._node(name).name]

    def downstream_edges(self, name: str) -> Sequence[Edge]:
        """The dependencies on an entity, in no order."""
        return self._edges.downstream[self._node(name).name]

    def requirements(self, slice_: Slice, state: str = COMPLETED) -> tuple[Requirement, ...]:
        """The exact upstream slices that a slice needs to reach a state, one requirement for each clause."""
        node = self._node(slice_.entity)
        ordinal = node.ordinal(slice_)
        if slice_.sub == WHOLE and node.subs != (WHOLE,):
            return (_roll_up(node, ordinal),)
        requirements = [
            requirement
            for edge in self._edges.upstream[node.name]
            if edge.state == state
            for requirement in edge.requirements(ordinal, slice_.sub)
        ]
        if node.entity.series:
            forgives = self.forgiven_flags(slice_)
            requirements = [requirement._replace(forgives=forgives) for requirement in requirements]
        return tuple(requirements)

    def downstream(self, slice_: Slice, until: datetime | None = None) -> tuple[Slice, ...]:
        """Every slice that needs this one, in order of entity, time and sub-partition.

        Some sets have no end: slices that read a static slice, or everything since a day, or take this slice as an
        older `last_available`. They are listed up to `until`; without it, only their first slice is.
        """
        node = self._node(slice_.entity)
        ordinal, limit = node.ordinal(slice_), checked_seconds(until) if until else None
        subs = node.subs if slice_.sub == WHOLE else (slice_.sub,)
        nodes = {
            (edge.down.name, down, sub): edge.down
            for edge in self._edges.downstream[node.name]
            for own_sub in subs
            for down, sub in edge.inverse(ordinal, own_sub, limit)
        }
        if slice_.sub != WHOLE and ordinal in node.existing_of(WHOLE):
            nodes[slice_.entity, ordinal, WHOLE] = node  # the whole slice is complete with its sub-partitions
        return tuple([nodes[place].slice(place[1], place[2]) for place in sorted(nodes)])

    def window(self, slice_: Slice) -> Window:
        """The window of a slice; all of time for a static one."""
        node = self._node(slice_.entity)
        grid, ordinal = node.grid_of(slice_.sub), node.ordinal(slice_)
        return grid.window(ordinal) if grid else Window.of_seconds(0, LAST_DAY * DAY_SECONDS)

    def exists(self, slice_: Slice) -> bool:
        """Whether the slice is between its entity's start and end. Raises ParseError for an invalid key."""
        node = self._node(slice_.entity)
        return node.ordinal(slice_) in node.existing_of(slice_.sub)

    def has(self, slice_: Slice) -> bool:
        """Like `exists`, but False for a stored slice that the present declarations do not allow."""
        try:
            return self.exists(slice_)
        except (ParseError, UnknownEntityError):
            return False

    def slices(self, entity: str, until: datetime) -> Iterator[Slice]:
        """Every slice whose window ended by an instant, by sub-partition and then in order of time."""
        node, limit = self._node(entity), seconds_of(until)
        for own_sub in node.subs:
            grid = node.grid_of(own_sub)
            for ordinal in node.existing_of(own_sub):
                if grid is not None and grid.start(ordinal + 1) > limit:
                    break
                yield node.slice(ordinal, own_sub)

    def series_of(self, name: str) -> tuple[str, ...]:
        """The other entities of an entity's series, sorted by name."""
        series = self._node(name).entity.series
        return tuple(other for other in self._declared_edges.series(series) if other != name) if series else ()

    def series_slices(self, slice_: Slice, side: Side) -> Iterator[Slice]:
        """The slices of its series by finer periods inside its window, or by coarser ones around it.

        A slice with the same window counts as inside.
        """
        period = self.entity(slice_.entity).period
        for name in self.series_of(slice_.entity):
            other = self.entity(name).period
            if period is None or other is None:
                continue
            if (other is period or other.is_finer_than(period)) == (side == "inside"):
                yield from self.slices_within(name, self.window(slice_), slice_.sub)

    def forgiven_flags(self, slice_: Slice) -> frozenset[Slice]:
        """Slices whose failed quality does not stop this slice from being computed.

        These are the slice itself, the slices of its series around it, and slices with the same window that are made
        from it. They are wrong because of this slice, and can only become right after it is computed.
        """
        entity = self.entity(slice_.entity)
        if not entity.series:
            return frozenset()
        siblings = [other for other in self.series_of(entity.name) if self.entity(other).period is entity.period]
        made_of_it = self._made_of(entity.name) if siblings else frozenset()
        window = self.window(slice_)
        own = [made for name in siblings if name in made_of_it for made in self.slices_within(name, window, slice_.sub)]
        return frozenset([slice_, *self.series_slices(slice_, "around"), *own])

    def _made_of(self, name: str) -> frozenset[str]:
        """The entities downstream of an entity, over any number of steps."""
        readers, waiting = set[str](), [name]
        while waiting:
            new = {edge.down.name for edge in self.downstream_edges(waiting.pop())} - readers
            readers |= new
            waiting.extend(new)
        return frozenset(readers)

    def slices_within(self, name: str, window: Window, sub: Sub = WHOLE) -> tuple[Slice, ...]:
        """An entity's existing slices that overlap a window, of one sub-partition if the entity has it."""
        node = self._node(name)
        slices: list[Slice] = []
        for own_sub in node.subs if sub not in node.subs else (sub,):
            grid = node.grid_of(own_sub)
            if grid is None:
                return (node.slice(0, own_sub),)
            within = range(grid.at(seconds_of(window.start)), grid.at(seconds_of(window.end) - 1) + 1)
            slices += (node.slice(number, own_sub) for number in within if number in node.existing_of(own_sub))
        return tuple(slices)

    def slice_at(self, entity: str, instant: datetime, sub: Sub = WHOLE) -> Slice:
        """The slice that contains an instant."""
        node = self._node(entity)
        grid = node.grid_of(sub)
        return node.slice(grid.at(checked_seconds(instant)) if grid else 0, sub)

    def problems(self) -> tuple[EntityError, ...]:
        """All errors between the entities."""
        return tuple(problems_of(self._declared_edges))

    def topological(self) -> tuple[str, ...]:
        """The names of all entities, each after the entities whose slices of the same time it needs."""
        return topological_order(self._edges)

    def _node(self, name: str) -> Node:
        node = self._nodes.get(name)
        if node is None:
            raise UnknownEntityError("unknown entity", found=quote_value(name), hint=did_you_mean(name, self._nodes))
        return node


def _roll_up(node: Node, ordinal: int) -> Requirement:
    """The requirement of a whole slice: all of its sub-partitions, or a quorum of them."""
    slices = tuple(node.slice(ordinal, own_sub) for own_sub in node.subs if ordinal in node.existing_of(own_sub))
    quorum = node.entity.quorum
    return Requirement(Dependency(node.name, SAME, weak=Weak(at_least=quorum) if quorum else None), slices)

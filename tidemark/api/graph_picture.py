"""The whole graph as columns of numbers, and the states of a day for it: the console's page *Graph* (capability D7).

The picture changes only with the declarations. The states of a day are one letter for each entity.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import BaseModel

from tidemark.dependency_model.graph.layered_layout import layered_layout
from tidemark.dependency_model.graph.topological_order import topological_order
from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.slice import STATIC_KEY
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.past_states import states_at
from tidemark.state_store.row_codec import sub_text
from tidemark.state_store.states_of_key import states_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.declared_edges import DeclaredEdges
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.state_store.database import Database

MOST_TAGS: Final = 20
_NONE: Final = "-"
STATES: Final = {
    "f": "failed",
    "b": "invalid, tainted or foreign",
    "a": "absent",
    "l": "late",
    "r": "running",
    "w": "waiting",
    "t": "to come",
    "c": "completed",
    _NONE: "no slice",
}
"""The letter of a state, worst first."""
_RANK: Final = {letter: rank for rank, letter in enumerate(STATES)}
_LETTERS: Final = {
    "failed": "f",
    "flawed": "b",
    "absent": "a",
    "running": "r",
    "launched": "r",
    "ready": "r",
    "completed": "c",
}


class GraphFacetModel(BaseModel):
    """A property to group entities by: layer, owner, kind, period, or a tag. `of` has the number of each one's value.

    The empty value means that the entity has none.
    """

    name: str
    values: list[str]
    of: list[int]


class GraphPictureModel(BaseModel):
    """All entities in the order of computation, with their column and row in a layered picture.

    `up` and `down` are the edges, by the numbers of the entities in `names`. `tags` are the 20 most common ones.
    """

    names: list[str]
    columns: list[int]
    rows: list[int]
    up: list[int]
    down: list[int]
    facets: list[GraphFacetModel]


class GraphStatesModel(BaseModel):
    """The states of the slices that contain the end of the day `at`, in each entity's own zone.

    `states` has one letter for each entity in the order of the picture, the worst of its sub-partitions; `words` are
    the meanings of the letters, worst first. With `as_of`, the states as recorded by then.
    """

    now: datetime
    at: str
    as_of: datetime | None
    states: str
    words: dict[str, str]


def graph_picture(graph: DependencyGraph) -> GraphPictureModel:
    """The picture of a graph."""
    layout = graph.kept(layered_layout)
    entities = [graph.entity(name) for name in layout.names]
    return GraphPictureModel(
        names=list(layout.names),
        columns=list(layout.columns),
        rows=list(layout.rows),
        up=list(layout.up),
        down=list(layout.down),
        facets=list(_facets(entities)),
    )


def _facets(entities: Sequence[Entity]) -> Iterator[GraphFacetModel]:
    yield _facet("layer", [entity.layer for entity in entities])
    yield _facet("owner", [entity.owner for entity in entities])
    yield _facet("kind", [entity.kind.value for entity in entities])
    yield _facet("period", [str(entity.period or "") for entity in entities])
    counts = Counter(tag for entity in entities for tag in entity.tags)
    for tag, _ in counts.most_common(MOST_TAGS):
        yield _facet(f"tag {tag}", [entity.tags.get(tag, "") for entity in entities])


def _facet(name: str, values: Sequence[str]) -> GraphFacetModel:
    number = {value: at for at, value in enumerate(sorted(set(values)))}
    return GraphFacetModel(name=name, values=list(number), of=[number[value] for value in values])


def graph_states(
    graph: DependencyGraph, database: Database, at: str, now: datetime, as_of: datetime | None
) -> GraphStatesModel:
    """The states at the end of a day. Raises ParseError and StateStoreDownError."""
    places = graph.kept(_Places)
    day = _Day(at, (as_of or now).astimezone(UTC))
    moments = [day.moment(group) for group in places.groups]
    letters = [moments[group].without for group in places.group_of]
    for key in {moment.key for moment in moments}:
        for entity, sub, state in _states(database, key, as_of):
            place = places.numbers.get((entity, sub) if sub else entity)
            if place is None:
                continue
            moment = moments[places.group_of[place]]
            if moment.key == key and moment.without != _NONE:
                letter = _LETTERS.get(state)
                letters[place] = moment.without if letter is None or (letter == "r" and moment.is_late) else letter
    return GraphStatesModel(now=now, at=at, as_of=as_of, states=places.joined(letters), words=STATES)


def _states(database: Database, key: str, as_of: datetime | None) -> Iterable[tuple[str, str, str]]:
    if as_of is None:
        return states_of_key(database, key)
    past = states_at(database, as_of, key, f"{key}\0")
    return ((slice_.entity, sub_text(slice_.sub), _state(status)) for slice_, status, _ in past)


def _state(status: SliceStatus) -> str:
    is_over = status.run_state in (RunState.FAILED, RunState.ABSENT)
    return "flawed" if status.is_flawed and not is_over else status.run_state.value


class _StateGroup(NamedTuple):
    """The properties that decide the letter of a slice without any event; `node` is one of the group."""

    grid: Grid | None
    existing: range
    ready_by: str | None
    time_zone: str
    node: Node


class _Places:
    """The sub-partitions of all entities as numbers, with the group of each."""

    def __init__(self, edges: DeclaredEdges) -> None:
        self.numbers: dict[object, int] = {}
        self.group_of: list[int] = []
        self.groups: list[_StateGroup] = []
        self._parted: list[tuple[int, int]] = []
        groups: dict[object, int] = {}
        for name in topological_order(edges.adjacency):
            node = edges.nodes[name]
            self._parted.append((len(self.group_of), len(self.group_of) + len(node.subs)))
            for sub in node.subs:
                self.numbers[(name, sub_text(sub)) if sub else name] = len(self.group_of)
                group = _StateGroup(
                    node.grid_of(sub), node.existing_of(sub), node.entity.ready_by, node.entity.time_zone, node
                )
                number = groups.setdefault(group[:-1], len(self.groups))
                if number == len(self.groups):
                    self.groups.append(group)
                self.group_of.append(number)
        self._has_parts = len(self._parted) < len(self.group_of)

    def joined(self, letters: Sequence[str]) -> str:
        """The letters of entities: the worst of the sub-partitions of each."""
        if not self._has_parts:
            return "".join(letters)
        return "".join(min(letters[begin:end], key=_RANK.__getitem__) for begin, end in self._parted)


class _Moment(NamedTuple):
    """The slice of a group at the end of the day; `without` is the letter of one without any event."""

    key: str
    without: str
    is_late: bool


class _Day:
    """The end of a day of business time, seen at `now` (UTC)."""

    def __init__(self, day: str, now: datetime) -> None:
        self._day, self._now = day, now

    def moment(self, group: _StateGroup) -> _Moment:
        """The slice that contains the end of the day on the group's clock. Raises ParseError."""
        grid = group.grid
        if grid is None:
            return _Moment(STATIC_KEY, "w", is_late=False)
        ordinal = grid.at(seconds_of(Calendar(grid.zone.name).window(Period.DAY, self._day).end) - 1)
        if ordinal not in group.existing:
            return _Moment(grid.key(ordinal), _NONE, is_late=False)
        window = grid.window(ordinal)
        promised = ready_by(group.node.entity, window)
        is_late = promised is not None and promised < self._now
        return _Moment(grid.key(ordinal), "l" if is_late else "t" if window.end > self._now else "w", is_late)

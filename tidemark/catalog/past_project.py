"""The project at a past instant: its entities, their inputs, and their queries (D7).

The code of an entity is that of the slice that was computed last by then. Layers, tags, owners, and slices without
stored code are today's. Entities that were neither computed nor read by then are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity import Dependency, EntityState
from tidemark.dependency_model.offset import Offset
from tidemark.state_store.code_registry import CodeRegistry
from tidemark.state_store.past_states import states_at
from tidemark.state_store.store import StateStore
from tidemark.warehouse.code_version import EntityCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from tidemark.dependency_model.entity import Entity
    from tidemark.state_store.past_states import PastState
    from tidemark.system.settings import Settings
    from tidemark.warehouse.declarations import Declarations


@dataclass(frozen=True)
class PastProject:
    """`entities` with the dependencies of that time, and `queries` of that time."""

    entities: Mapping[str, Entity]
    queries: Mapping[str, str]


def past_project(settings: Settings, read: Declarations, when: datetime) -> PastProject:
    """The project at an aware instant. Raises StateStoreDownError."""
    if not settings.state and not settings.state_db.exists():
        return PastProject({}, {})
    store = StateStore.of(settings)
    try:
        return project_at(store, read.entities, read.queries, when)
    finally:
        store.close()


def project_at(
    store: StateStore, entities: Mapping[str, Entity], queries: Mapping[str, str], when: datetime
) -> PastProject:
    """The project with today's `entities` and `queries` at an aware instant. Raises StateStoreDownError."""
    last = _last_computed(states_at(store.database, when))
    contents = {(stored.entity, stored.code): stored.content for stored in CodeRegistry(store.database).codes()}
    codes = {name: contents.get((name, _code_of(store, state, when)), "") for name, state in last.items()}
    return _project(entities, queries, codes)


def _last_computed(states: Iterable[PastState]) -> dict[str, PastState]:
    """The last changed slice of each entity, among the completed ones."""
    last: dict[str, PastState] = {}
    for state in states:
        name = state.slice.entity
        if state.status.states and (name not in last or last[name].seq < state.seq):
            last[name] = state
    return last


def _code_of(store: StateStore, state: PastState, when: datetime) -> str:
    told = (step.facts.code for step in store.read.history(state.slice) if step.record_time <= when)
    return ([code for code in told if code] or [""])[-1]


def _project(today: Mapping[str, Entity], queries: Mapping[str, str], codes: Mapping[str, str]) -> PastProject:
    known = {name: content for name, content in codes.items() if name in today}
    parsed = {name: EntityCode.of_json(content) for name, content in known.items() if content}
    entities = {name: _entity_then(today[name], parsed[name]) if name in parsed else today[name] for name in known}
    needed = {dependency.entity for entity in entities.values() for dependency in _dependencies(entity)}
    entities |= {name: today[name] for name in needed if name in today and name not in entities}
    then = {name: parsed[name].query if name in parsed else queries.get(name, "") for name in known}
    return PastProject(entities, {name: query for name, query in then.items() if query})


def _dependencies(entity: Entity) -> Iterable[Dependency]:
    return (dependency for state in entity.states for dependency in state.depends_on)


def _entity_then(entity: Entity, code: EntityCode) -> Entity:
    """The entity with the dependencies in its stored code, as `code_version` writes them."""
    needed: dict[str, list[Dependency]] = {state.entity_state: [] for state in entity.states}
    for text in filter(None, code.rows.get("depends_on", "").split("; ")):
        state, name, *rest = text.partition(" {")[0].split(" ")
        offset, states = " ".join(rest[:-1]), tuple(rest[-1].split(","))
        parsed = None if offset == "None" else Offset.parse(offset)
        needed.setdefault(state, []).append(Dependency(name, parsed, states))
    return replace(entity, states=tuple(EntityState(state, tuple(own)) for state, own in needed.items()))

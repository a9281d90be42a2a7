"""Projects as tasks: a root that all members follow, and an end that follows all members (seed capability A1).

A project that depends on another then is a root that depends on an end, and every project-level dependency has become
task-level ones that release the same slices. The end carries the project's own name, so that "depends on the project"
and "depends on the project's end" are the same words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED, Dependency
from tidemark.dependency_model.entity.entity import EntityState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.entity.entity import Entity


def root_name(project: str) -> str:
    """The name of a project's root."""
    return f"{project}.root"


def root_of(project: Entity) -> Entity:
    """The node that marks the project's start: it waits for what the project waits for, and nobody is promised it."""
    return replace(
        project, name=root_name(project.name), description=f"Start of the project {project.name}", ready_by=None
    )


def end_of(project: Entity, members: Iterable[str]) -> Entity:
    """The node that marks the project's end: it waits for all members (and for the root, where there are none)."""
    needed = [root_name(project.name), *members]
    state = EntityState(entity_state=COMPLETED, depends_on=tuple(Dependency(entity=name) for name in needed))
    return replace(project, states=(state,))


def member_of(entity: Entity) -> Entity:
    """A member waits for its project's root, in every state; a static one has no time to wait for."""
    if entity.is_static:
        return entity
    root = Dependency(entity=root_name(entity.project or ""))
    return replace(
        entity, states=tuple(replace(state, depends_on=(root, *state.depends_on)) for state in entity.states)
    )

"""Projects as nodes: a root that all members wait for, and an end that waits for all members (seed capability A1).

If a project depends on another one, its root depends on the other's end. So a dependency between projects becomes
dependencies between nodes that release the same slices. The end has the project's own name: "depends on the project"
means "depends on the project's end".
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
    """The node of the project's start. It waits for the project's dependencies and has no promise."""
    return replace(
        project, name=root_name(project.name), description=f"Start of the project {project.name}", ready_by=None
    )


def end_of(project: Entity, members: Iterable[str]) -> Entity:
    """The node of the project's end. It waits for the root and for all members."""
    needed = [root_name(project.name), *members]
    state = EntityState(entity_state=COMPLETED, depends_on=tuple(Dependency(entity=name) for name in needed))
    return replace(project, states=(state,))


def member_of(entity: Entity) -> Entity:
    """A member that waits for its project's root in every state. A static member is unchanged: it has no time."""
    if entity.is_static:
        return entity
    root = Dependency(entity=root_name(entity.project or ""))
    return replace(
        entity, states=tuple(replace(state, depends_on=(root, *state.depends_on)) for state in entity.states)
    )

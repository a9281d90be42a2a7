"""Slow and obvious: what has to be rebuilt, asked of every slice by itself, with no plan and no waves."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.entity import Reprocess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


def rebuilt(
    graph: DependencyGraph, roots: Collection[Slice], there: Collection[Slice], is_changed: Callable[[Slice], bool]
) -> set[Slice]:
    """The slices that have to be computed again, where `is_changed` says whether that brings other content.

    A slice has to where a person asked for it, or where one that it reads was, and its policy says so.
    """

    @cache
    def has_to(slice_: Slice) -> bool:
        if slice_ in roots:
            return True
        if slice_ not in there:
            return False
        used = [used for requirement in graph.requirements(slice_) for used in requirement.slices if used != slice_]
        moved = [used for used in used if has_to(used)]
        policy = graph.entity(slice_.entity).reprocess
        if policy is Reprocess.ALWAYS:
            return bool(moved)
        return policy is not Reprocess.NEVER and any(map(is_changed, moved))

    return {slice_ for slice_ in (*roots, *there) if has_to(slice_)}

"""Which slices start by themselves, and which wait for a word from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.entity import Entity, EntityKind
from tidemark.dependency_model.entity.sub_partition import WHOLE

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus


def is_scheduled(entity: Entity) -> bool:
    """Whether time and inputs release its slices; external data and snapshots of captured tables arrive instead.

    A static entity is computed once where something here computes it.
    """
    if entity.is_static:
        return entity.computed or entity.own_asset
    return not (entity.kind is EntityKind.VIRTUAL or entity.source or entity.snapshot_of)


def is_released(node: Node, sub: Sub) -> bool:
    """Whether time and inputs release an entity's slices of a sub-partition: also the whole of external parts."""
    return is_scheduled(node.entity) or (sub == WHOLE and node.is_parted and node.entity.kind is EntityKind.VIRTUAL)


def is_marker(node: Node, slice_: Slice) -> bool:
    """Whether nothing computes the slice: a project's root or end, or a whole whose sub-partitions are all there."""
    return node.entity.is_project or (slice_.sub == WHOLE and node.subs != (WHOLE,))


def is_run_here(node: Node, slice_: Slice) -> bool:
    """Whether a run of this project makes the slice, or judges it: any other is never launched or tried again."""
    entity = node.entity
    is_captured = bool(entity.source or entity.snapshot_of)
    return (is_scheduled(entity) or is_captured) and not is_marker(node, slice_)


def next_state(entity: Entity, status: SliceStatus) -> str | None:
    """The state that a slice has to reach next: the first one declared that it has not; None where it has all."""
    return next((state for state in entity.state_names if state not in status.states), None)


def is_computed_here(graph: DependencyGraph, slice_: Slice) -> bool:
    """The same of a slice that was stored: whether the graph has it still, too."""
    return graph.has(slice_) and is_run_here(graph.node(slice_.entity), slice_)

"""The slices that start by themselves, and the slices that arrive from outside."""

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

    A static entity is computed once, if this project computes it.
    """
    if entity.is_static:
        return entity.computed or entity.own_asset
    return not (entity.kind is EntityKind.VIRTUAL or entity.source or entity.snapshot_of)


def is_released(node: Node, sub: Sub) -> bool:
    """Whether time and inputs release the slices of a sub-partition. This includes the whole of external parts."""
    return is_scheduled(node.entity) or (sub == WHOLE and node.is_parted and node.entity.kind is EntityKind.VIRTUAL)


def is_marker(node: Node, slice_: Slice) -> bool:
    """Whether no run computes the slice: a project's root or end, or the whole of sub-partitions."""
    return node.entity.is_project or (slice_.sub == WHOLE and node.subs != (WHOLE,))


def is_run_here(node: Node, slice_: Slice) -> bool:
    """Whether a run of this project makes or judges the slice. Other slices are never launched or retried."""
    entity = node.entity
    is_captured = bool(entity.source or entity.snapshot_of)
    return (is_scheduled(entity) or is_captured) and not is_marker(node, slice_)


def next_state(entity: Entity, status: SliceStatus) -> str | None:
    """The next state of a slice: the first declared one that it has not reached; None if it has reached all."""
    return next((state for state in entity.state_names if state not in status.states), None)


def is_computed_here(graph: DependencyGraph, slice_: Slice) -> bool:
    """Whether the graph still has a stored slice and a run of this project makes it."""
    return graph.has(slice_) and is_run_here(graph.node(slice_.entity), slice_)

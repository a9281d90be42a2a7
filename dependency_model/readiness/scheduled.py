"""Which slices start by themselves, and which wait for a word from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dependency_model.entity.entity import Entity, Kind

if TYPE_CHECKING:
    from dependency_model.status.slice_status import SliceStatus


def is_scheduled(entity: Entity) -> bool:
    """Whether time and inputs release its slices; external data and snapshots of captured tables arrive instead."""
    return not (entity.is_static or entity.kind is Kind.VIRTUAL or entity.source or entity.snapshot_of)


def next_state(entity: Entity, status: SliceStatus) -> str | None:
    """The state that a slice has to reach next: the first one declared that it has not; None where it has all."""
    return next((state for state in entity.state_names if state not in status.states), None)

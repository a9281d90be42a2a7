"""Handles inputs that changed, or arrived, while a run was active.

If an input was computed again, or found wrong, during a run, the new slice is out of date at once. Those events
affected the old rows only, so the slice is compared with its inputs when the run ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.unread_needs import unread_needs
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.dependency_model.status.consequence import borne_flags
from tidemark.dependency_model.status.propagation import REPROCESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest, UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

_UNKNOWN = SliceStatus()
_GOOD = (Quality.PASSED, Quality.IGNORED)


def late_events(graph: DependencyGraph, manifest: SliceManifest, known: KnownStatuses) -> Iterator[Event]:
    """Events for a slice that was just computed with this manifest."""
    needed = _needed_since(graph, manifest)
    if needed and not all(_has_come(known.get(slice_) or _UNKNOWN, {COMPLETED}) for slice_ in needed):
        yield Event.LACKING
        needed = ()
    changed = bool(needed) or _is_complete_now(graph, manifest, known)
    borne = borne_flags(graph, manifest.slice, known)
    for used in (used for of_entity in manifest.used_slices.values() for used in of_entity):
        status = known.get(used.slice) or _UNKNOWN
        if status.is_flawed_beyond(borne):
            yield Event.TAINTED
            return
        changed = changed or _has_changed(status, used)
    if changed:
        event = Event(REPROCESS[graph.entity(manifest.slice.entity).reprocess].changed)
        if event is not Event.KEPT:
            yield event
        elif needed:
            yield Event.LACKING


def _needed_since(graph: DependencyGraph, manifest: SliceManifest) -> tuple[Slice, ...]:
    """New needs after a change of the project that the run did not know."""
    asked_for = {used.slice for clause in manifest.clauses for used in clause.used}
    return unread_needs(graph, manifest.slice, {*asked_for, *manifest.missing}, manifest.state)


def _has_changed(status: SliceStatus, used: UsedSlice) -> bool:
    """Whether the input was computed again, or reached a later state than the one read."""
    if status.generation == used.generation:
        return status.unfinished_state != used.state
    return status.generation > used.generation and status.run_state is RunState.COMPLETED


def _is_complete_now(graph: DependencyGraph, manifest: SliceManifest, known: KnownStatuses) -> bool:
    """Whether a missing input has arrived in a sufficient state."""
    if not manifest.missing:
        return False
    dependencies = [requirement.dependency for requirement in graph.requirements(manifest.slice, manifest.state)]
    return any(
        _has_come(known.get(slice_) or _UNKNOWN, {*dependency.states})
        for clause in manifest.clauses
        for dependency in dependencies
        if dependency.entity == clause.entity
        for slice_ in clause.missing
    )


def _has_come(status: SliceStatus, accepted: set[str]) -> bool:
    is_good = status.quality in _GOOD and not status.is_flawed
    return is_good and not accepted.isdisjoint(status.states)

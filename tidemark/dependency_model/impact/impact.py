"""The need of each slice downstream of some slices: `impact ENTITY SLICES` (seed capability D4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity.entity import EntityKind, Reprocess
from tidemark.dependency_model.status.slice_status import RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.consequence import KnownStatuses

_UNKNOWN: Final = SliceStatus()
_STARTED: Final = frozenset({RunState.LAUNCHED, RunState.RUNNING, RunState.COMPLETED})
_ENDED: Final = frozenset({RunState.FAILED, RunState.ABSENT})


class Need(Enum):
    """The action that a slice needs once its inputs are good again."""

    CLEAR = "clear"
    """It has, or a run computes, data from the wrong inputs. It must be cleared and computed again."""
    START = "start"
    """It has no data and does not start by itself. It must be started."""
    NOTHING = "nothing"
    """It reads its inputs when it starts, or its data is kept."""


@dataclass(frozen=True, slots=True)
class ImpactedSlice:
    """A slice with its status, its need, and a short reason."""

    slice: Slice
    status: SliceStatus
    need: Need
    because: str


def impacts_of(graph: DependencyGraph, slices: Iterable[Slice], known: KnownStatuses) -> list[ImpactedSlice]:
    """The need of each slice, in their order (`downstream_closure`)."""
    return [_impacted(graph, slice_, known.get(slice_) or _UNKNOWN) for slice_ in slices]


def _impacted(graph: DependencyGraph, slice_: Slice, status: SliceStatus) -> ImpactedSlice:
    need, because = _need(graph.entity(slice_.entity), status)
    return ImpactedSlice(slice_, status, need, because)


def _need(entity: Entity, status: SliceStatus) -> tuple[Need, str]:
    state = status.run_state
    if entity.is_project:
        return Need.NOTHING, "stands for a project"
    if entity.kind is EntityKind.VIRTUAL:
        return Need.NOTHING, "another system makes it"
    if state in _STARTED or status.states:
        if entity.reprocess is Reprocess.NEVER:
            return Need.NOTHING, "kept: reprocess is never"
        return Need.CLEAR, state.value
    if state in _ENDED:
        return Need.START, state.value
    return Need.NOTHING, f"{state.value}: reads them in their state at that time"

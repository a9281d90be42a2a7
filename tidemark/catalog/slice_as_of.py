"""The status of a slice at a past instant, and the slices and versions that it had been computed from then.

It uses the slice's transitions recorded by then, through the slice's index, so the total number does not matter.
Transitions older than `history_days` are deleted, except each slice's last one: its status stays known, but not its
inputs. Source: seed capability D8 (exact status at any past time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition

_WRITTEN: Final = frozenset({Event.REACHED, Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED})
_ASKED_FOR: Final = frozenset({Event.LAUNCHED, Event.FORCED})


@dataclass(frozen=True, slots=True)
class SliceAsOf:
    """`status` is None if nothing had happened by `when` (aware). `written` is its last computation.

    `read` has the inputs of that run; None if they were not recorded.
    """

    slice: Slice
    when: datetime
    status: SliceStatus | None
    written: Transition | None
    read: tuple[UsedSlice, ...] | None


def slice_as_of(store: StateStore, slice_: Slice, when: datetime) -> SliceAsOf:
    """The slice as recorded by an aware instant. Raises StateStoreDownError."""
    history = [step for step in store.read.history(slice_) if step.record_time <= when]
    written = next((step for step in reversed(history) if step.event in _WRITTEN), None)
    return SliceAsOf(slice_, when, history[-1].status if history else None, written, _read(history, written))


def _read(history: list[Transition], written: Transition | None) -> tuple[UsedSlice, ...] | None:
    """The inputs in the last launch before the slice was written."""
    asked = [step for step in history if written and step.seq < written.seq and step.event in _ASKED_FOR]
    manifest = asked[-1].facts.manifest if asked else None
    return tuple(used for those in manifest.used_slices.values() for used in those) if manifest else None

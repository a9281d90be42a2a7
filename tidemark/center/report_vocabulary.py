"""Events that other systems may report about a slice, by the system that makes the slice.

The state machine has more events: decisions of the center cannot be reported, and a slice that the project does not
compute is never launched.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.readiness.self_starting_slices import is_marker, is_run_here
from tidemark.dependency_model.status.transition import Event

if TYPE_CHECKING:
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice


class MadeBy(Enum):
    """The maker of a slice; the value is for messages."""

    OTHERS = "another system makes it"
    THIS_PROJECT = "a run of this project makes it"
    NOBODY = "it stands for other slices"


_OF_PEOPLE: Final = frozenset({Event.TAINTED, Event.KEPT, Event.BACKFILL_REQUESTED})
_OF_RUNS: Final = frozenset(
    {
        *(Event.STARTED, Event.REACHED, Event.COMPLETED, Event.BACKFILLED, Event.FAILED),
        *(Event.CANCELLED, Event.INTERRUPTED, Event.LOST),
    }
)
_OF_RULES: Final = frozenset({Event.QUALITY_PASSED, Event.QUALITY_FAILED, Event.QUALITY_IGNORED})
_OF_STORAGE: Final = frozenset({Event.DELETED, Event.OVERWRITTEN, Event.RECOVERED})
_OF_ALL: Final = _OF_PEOPLE | _OF_RUNS | _OF_RULES | _OF_STORAGE

VOCABULARY: Final[dict[MadeBy, frozenset[Event]]] = {
    MadeBy.OTHERS: _OF_ALL | {Event.OBSERVED},
    MadeBy.THIS_PROJECT: _OF_ALL | {Event.REQUESTED, Event.RETRIED, Event.REFUSED, Event.LACKING},
    MadeBy.NOBODY: _OF_PEOPLE,
}
REPORTED: Final = tuple(event for event in Event if any(event in words for words in VOCABULARY.values()))
"""Events that may be reported for some slices."""

_HINTS: Final[dict[MadeBy, str]] = {
    MadeBy.OTHERS: "report observed when its data is there, and backfill_requested to request it again",
    MadeBy.THIS_PROJECT: "the center starts it when its inputs are there; report the result of its run",
    MadeBy.NOBODY: "report about the slices that it stands for",
}


def made_by(node: Node, slice_: Slice) -> MadeBy:
    """The maker of a slice."""
    if is_marker(node, slice_):
        return MadeBy.NOBODY
    return MadeBy.THIS_PROJECT if is_run_here(node, slice_) else MadeBy.OTHERS


def words_of(maker: MadeBy) -> str:
    """The reportable events, for messages."""
    return ", ".join(event.value for event in REPORTED if event in VOCABULARY[maker])


def hint_of(maker: MadeBy) -> str:
    """A hint about reportable events."""
    return _HINTS[maker]

"""What other systems may report of a slice, by who makes it.

The events of the state machine are more than that: what the center decides itself nobody reports to it, and a slice
that nothing here computes is never asked to start.
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
    """Who makes a slice; the value says it to people."""

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
"""What may be reported of some slice."""

_HINTS: Final[dict[MadeBy, str]] = {
    MadeBy.OTHERS: "report observed once its data is there, and backfill_requested where it is to be delivered again",
    MadeBy.THIS_PROJECT: "the center starts it once its inputs are there; report what became of a run of it",
    MadeBy.NOBODY: "report of the slices that it stands for",
}


def made_by(node: Node, slice_: Slice) -> MadeBy:
    """Who makes a slice."""
    if is_marker(node, slice_):
        return MadeBy.NOBODY
    return MadeBy.THIS_PROJECT if is_run_here(node, slice_) else MadeBy.OTHERS


def words_of(maker: MadeBy) -> str:
    """What may be reported, for people."""
    return ", ".join(event.value for event in REPORTED if event in VOCABULARY[maker])


def hint_of(maker: MadeBy) -> str:
    """What to do instead of what cannot be reported."""
    return _HINTS[maker]

"""The origin of a slice's present generation (seed capability A4): the schedule, or a request of a person.

The center computes a slice by itself when its inputs are there, and again when they change. A backfill, a report and a
run that the center did not launch are requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import Event
from tidemark.dependency_model.subject import Instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.transition import Transition

_ORIGINS: Final = frozenset({Event.REQUESTED, Event.BACKFILL_REQUESTED, Event.FORCED})
_OF_PEOPLE: Final = ("backfill:", "api:")


def instance_of(history: Sequence[Transition]) -> Instance:
    """The instance of the slice with this history, oldest transition first."""
    origin = next((step for step in reversed(history) if step.event in _ORIGINS), None)
    if origin is None:
        return Instance.SCHEDULED
    is_effect = ">" in origin.event_id
    is_request = origin.event is Event.FORCED or (origin.event_id.startswith(_OF_PEOPLE) and not is_effect)
    return Instance.MANUAL if is_request else Instance.SCHEDULED

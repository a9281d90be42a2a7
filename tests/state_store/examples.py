"""Transitions as tests need them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, SliceStatus, apply
from tidemark.state_store.transition import NOTHING_TOLD, Facts, Transition

NOON = datetime(2026, 3, 24, 12, 0, 0, 123_456, tzinfo=UTC)
HOUR = Slice("sales", "2026-03-24T07", (("region", "c n/=%"),))
DAY = Slice("orders", "2026-03-24")


def chain(
    slice_: Slice,
    events: str,
    first: int = 1,
    status: SliceStatus | None = None,
    facts: Facts = NOTHING_TOLD,
) -> list[Transition]:
    """The transitions of some events in a row, a second apart."""
    transitions = []
    status = status or SliceStatus()
    for seq, name in enumerate(events.split(), start=first):
        status = apply(status, Event(name), cause=slice_)
        when = NOON + timedelta(seconds=seq)
        event_id = f"{slice_}/{seq}"
        transitions.append(Transition(seq, event_id, slice_, Event(name), status, "test", "because", when, when, facts))
    return transitions

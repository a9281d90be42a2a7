"""How slices stood at any instant: equal to a replay of everything from the beginning, on random histories."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.state_store.examples import NOON, chain
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.past_states import states_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition

SLICES: Final = [
    *(Slice("orders", f"2026-03-2{day}") for day in range(4)),
    Slice("hours", "2026-03-21T07"),
    Slice("hours", "2026-03-22T23", (("region", "cn"),)),
    Slice("weeks", "2026-03"),
]
EVENTS: Final = ["released", "launched", "started", "failed", "retried", "launched", "started", "completed", "tainted"]


def replayed(
    transitions: Iterable[Transition], when: datetime, first: str, end: str, entity: str | None
) -> dict[Slice, SliceStatus]:
    """The slow way: everything again, in order."""
    statuses: dict[Slice, SliceStatus] = {}
    for transition in transitions:
        is_asked_for = first <= transition.slice.key < end and entity in (None, transition.slice.entity)
        if transition.record_time <= when and is_asked_for:
            statuses[transition.slice] = transition.status
    return statuses


HISTORIES: Final = st.lists(st.tuples(st.sampled_from(SLICES), st.integers(-2, 40)), max_size=40)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=HISTORIES,
    asked=st.integers(-1, 60),
    stretch=st.sampled_from([("", "~"), ("2026-03-21", "2026-03-22"), ("2026-03-2", "~")]),
    entity=st.sampled_from([None, None, "orders", "hours", "days"]),
)
def test_past_states_agree_with_a_replay(
    store: StateStore,
    database: Database,
    steps: list[tuple[Slice, int]],
    asked: int,
    stretch: tuple[str, str],
    entity: str | None,
) -> None:
    """Clocks may go back: a later transition may have been recorded at an earlier time."""
    first = store.read.last()
    told = list(_transitions(steps, first))
    store.write.append(told, after=first)
    everything = store.read.after(0)
    when = NOON + timedelta(seconds=asked)
    states = states_at(database, when, *stretch, entity=entity)
    assert {state.slice: state.status for state in states} == replayed(everything, when, *stretch, entity)
    assert len({state.slice for state in states}) == len(states)


def _transitions(steps: list[tuple[Slice, int]], first: int) -> Iterable[Transition]:
    done: dict[Slice, int] = {}
    for number, (slice_, seconds) in enumerate(steps, start=1):
        at = done[slice_] = done.get(slice_, -1) + 1
        life = chain(slice_, " ".join(EVENTS[: at % len(EVENTS) + 1]))
        when = NOON + timedelta(seconds=seconds)
        yield replace(life[-1], seq=first + number, event_id=f"{first + number}", record_time=when, event_time=when)


def test_before_anything_had_happened_there_is_nothing(store: StateStore, database: Database) -> None:
    store.write.append(chain(SLICES[0], "released launched"), after=0)
    assert states_at(database, NOON) == []
    (state,) = states_at(database, NOON + timedelta(seconds=1))
    assert (state.slice, state.seq) == (SLICES[0], 1)

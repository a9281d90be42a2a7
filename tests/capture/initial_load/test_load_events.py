"""Where a topic lacks rows, against a slow model that walks through it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.initial_load.load_events import LoadEvent, Missing, missing, pending_loads_at
from tidemark.capture.initial_load.signal_table import requests

SHARDS = ["a.s.t_0", "a.s.t_1", "b.s.t_0"]
EVENTS = st.lists(
    st.builds(
        lambda shard, offset, is_loaded: LoadEvent(shard[0], offset, shard[2:], is_loaded=is_loaded),
        st.sampled_from(SHARDS),
        st.integers(0, 12),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda build: (build.instance, build.offset),
)


def lacking(before: list[str], events: list[LoadEvent], instance: str, offset: int) -> set[str]:
    """The shards that lack rows in the state before `offset`, read record by record."""
    lacking = {shard for shard in before if shard[0] == instance}
    for event in sorted(events):
        if event.instance == instance and event.offset < offset:
            if event.is_loaded:
                lacking.discard(event.shard)
            else:
                lacking.add(event.shard)
    return lacking


@given(before=st.lists(st.sampled_from(SHARDS), unique=True), events=EVENTS, offset=st.integers(0, 14))
def test_a_state_lacks_rows_that_were_announced_and_have_not_arrived(
    before: list[str], events: list[LoadEvent], offset: int
) -> None:
    for instance in ("a", "b"):
        wanted = lacking(before, events, instance, offset)
        assert {gap.shard for gap in missing(instance, before, events) if gap.holds(offset)} == wanted
        kept = pending_loads_at(before, events, {"a": offset, "b": offset})
        assert {shard for shard in kept if shard[0] == instance} == wanted


def test_a_table_that_is_read_once_more_stays_whole() -> None:
    assert missing("a", (), [LoadEvent("a", 5, "s.t_0", is_loaded=True)]) == ()


def test_a_load_that_began_before_lacks_rows_from_the_beginning() -> None:
    event = LoadEvent("a", 5, "s.t_0", is_loaded=True)
    assert missing("a", ["a.s.t_0", "b.s.t_0"], [event]) == (Missing("a.s.t_0", -1, 5),)


def test_many_tables_are_asked_for_by_signals_that_fit_their_column() -> None:
    tables = [f"school.a_table_with_a_long_name_{number}" for number in range(200)]
    made = requests(tables)
    assert max(map(len, made)) <= 2048
    assert [name for text in made for name in tables if f'"{name}"' in text] == tables
    assert requests([]) == []

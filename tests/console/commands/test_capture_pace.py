"""When the capture looks again: at the latest after its interval, soon where a slice has ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidemark.console.commands.capture.step_loop import SOON_SECONDS, seconds_to_next

NOW = datetime(2026, 3, 24, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_the_interval_where_nothing_ends_in_it() -> None:
    assert seconds_to_next([], NOW, 300) == 300
    assert seconds_to_next([at(3600), at(301)], NOW, 300) == 300


def test_a_slice_that_ends_is_looked_for_at_its_end_and_again_until_it_is_tagged() -> None:
    assert seconds_to_next([at(3600), at(40)], NOW, 300) == 40
    assert seconds_to_next([at(0), at(40)], NOW, 300) == SOON_SECONDS
    assert seconds_to_next([at(-7200)], NOW, 5) == 5


@given(st.lists(st.integers(-1_000_000, 1_000_000)), st.integers(1, 100_000))
def test_never_longer_than_the_interval_and_never_at_once(ends: list[int], every: int) -> None:
    seconds = seconds_to_next([at(end) for end in ends], NOW, every)
    assert 0 < seconds <= every
    assert any(end <= 0 for end in ends) or all(seconds <= end for end in ends)

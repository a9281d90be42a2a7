"""Intervals, back-off and learned arrivals: bounded, and never earlier than an answer is fresh."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.arrival.learned_arrival import ENOUGH, ExpectedArrival, LearnedArrival
from tidemark.dependency_model.arrival.probe_interval import LONGEST, back_off, first_look, next_look

END = datetime(2026, 3, 30, tzinfo=UTC)  # a Monday
MINUTE = timedelta(minutes=1)


@given(
    st.floats(0, 86_400),
    st.floats(0, 86_400),
    st.floats(0, 200_000),
    st.integers(0, 120),
)
def test_a_look_is_never_sooner_than_an_answer_is_fresh(
    earliest: float, spread: float, elapsed: float, fresh: int
) -> None:
    expected, shortest = ExpectedArrival(earliest, earliest + spread), timedelta(minutes=fresh)
    now = END + timedelta(seconds=elapsed)
    following = next_look(END, now, expected, shortest)
    assert following >= now + shortest
    assert following <= max(now + max(shortest, LONGEST), first_look(END, expected, shortest))
    assert first_look(END, expected, shortest) >= END
    assert now + shortest <= next_look(END, now, None, shortest) <= now + max(shortest, LONGEST)


def test_it_looks_often_while_the_slice_should_come_and_less_when_it_is_late() -> None:
    expected = ExpectedArrival(3_600, 3_600 + 480)
    assert first_look(END, expected, MINUTE) == END + timedelta(minutes=59)
    assert next_look(END, END + timedelta(minutes=62), expected, MINUTE) == END + timedelta(minutes=63)
    late = END + timedelta(hours=3)
    assert next_look(END, late, expected, MINUTE) - late > 20 * MINUTE


def test_a_declaration_may_say_how_often_a_late_slice_is_looked_for() -> None:
    late = END + timedelta(days=200)
    for expected in (None, ExpectedArrival(0, 60)):
        assert next_look(END, late, expected, MINUTE) == late + LONGEST
        assert next_look(END, late, expected, timedelta(0), timedelta(seconds=5)) == late + timedelta(seconds=5)


def test_arrivals_of_the_hour_and_weekday_have_precedence() -> None:
    learned = LearnedArrival()
    assert learned.expect(END) is None
    for week in range(ENOUGH):
        monday = END - timedelta(weeks=week)
        learned.learn(monday, monday + timedelta(hours=2))
        learned.learn(monday + timedelta(days=1), monday + timedelta(days=1, minutes=10))
    assert learned.expect(END) == ExpectedArrival(7_200, 7_200)
    assert learned.expect(END + timedelta(days=1)) == ExpectedArrival(600, 600)
    assert learned.expect(END + timedelta(days=2)) == ExpectedArrival(600, 7_200)


def test_back_off_doubles_up_to_its_limit() -> None:
    waits = [back_off(failures) for failures in range(1, 40)]
    assert [wait.total_seconds() for wait in waits[:4]] == [15, 30, 60, 120]
    assert waits[-1] == LONGEST

"""What was seen is believed after two equal looks and its time to settle: against a slow reference."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.arrival.sighting import Sight, Sighting, look_again

START = datetime(2026, 3, 29, tzinfo=UTC)
SETTLE = timedelta(minutes=5)
NOTHING = Sight(is_there=False, why="nothing")

looks = st.lists(st.tuples(st.integers(-3, 10), st.one_of(st.none(), st.integers(0, 2))), min_size=1, max_size=12)
"""(minutes since the last look, rows), None where nothing is there."""


def sight(rows: int | None) -> Sight:
    return NOTHING if rows is None else Sight(is_there=True, why="", content=str(rows), rows=rows)


def believed(history: list[tuple[datetime, Sight]]) -> bool:
    """The last looks that saw the same thing with a clock that went on: at least two, over the time to settle."""
    when, last = history[-1]
    same = [when]
    for (earlier, before), (later, _) in zip(reversed(history[:-1]), reversed(history), strict=False):
        if before != last or later < earlier:
            break
        same.append(earlier)
    return len(same) >= 2 and when - same[-1] >= SETTLE


@given(looks)
def test_as_the_reference_believes(steps: list[tuple[int, int | None]]) -> None:
    now, sighting = START, None
    history: list[tuple[datetime, Sight]] = []
    for minutes, rows in steps:
        now += timedelta(minutes=minutes)
        history.append((now, sight(rows)))
        sighting = look_again(sighting, sight(rows), now)
        assert sighting.is_settled(SETTLE) == believed(history)


def test_when_it_was_first_seen_stays_while_it_grows() -> None:
    grows = look_again(look_again(None, sight(1), START), sight(2), START + SETTLE)
    assert (grows.first_seen, grows.looks) == (START, 1)
    gone = look_again(grows, NOTHING, START + 2 * SETTLE)
    assert gone == Sighting(NOTHING, START + 2 * SETTLE, START + 2 * SETTLE)

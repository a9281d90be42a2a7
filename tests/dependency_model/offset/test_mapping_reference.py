"""The fast mappings against the slow, obvious ones: every pair of periods, every kind of offset, hard years."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.dependency_model.random_offset import random_offset
from tests.dependency_model.reference import clock
from tests.dependency_model.reference_offset import CALENDAR, Cut, needed_slices
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.date_grid import WEEK_DAYS

if TYPE_CHECKING:
    from tidemark.dependency_model.offset import Offset

CASES_A_PAIR, MANY_A_PAIR = 5, 840
"""7 meetings x 64 pairs of periods x 5 cases: 2,240; the long test has all 20 meetings, and a million."""


class Meeting(NamedTuple):
    """Two clocks that meet, in a year in which something happens."""

    down: str
    up: str
    year: int
    down_week: str = "monday"
    up_week: str = "monday"


MEETINGS = [
    Meeting("Europe/Paris", "Europe/Paris", 2026),
    Meeting("Europe/Paris", "Europe/Paris", 2024, "sunday", "saturday"),
    Meeting("America/New_York", "America/New_York", 2024, "sunday", "sunday"),
    Meeting("Asia/Kolkata", "Asia/Kolkata", 2026),
    Meeting("Australia/Lord_Howe", "Australia/Lord_Howe", 2026),
    Meeting("Pacific/Apia", "Pacific/Apia", 2011),
    Meeting("Europe/Dublin", "Europe/Dublin", 2026),
    Meeting("America/Sao_Paulo", "America/Sao_Paulo", 2018),
    Meeting("Asia/Beirut", "Asia/Beirut", 2023),
    Meeting("America/St_Johns", "America/St_Johns", 2009),
    Meeting("Antarctica/Casey", "Antarctica/Casey", 2020),
    Meeting("Africa/Casablanca", "Africa/Casablanca", 2024),
    Meeting("Pacific/Kiritimati", "Pacific/Kiritimati", 1994),
    Meeting("Europe/Paris", "UTC", 2026),
    Meeting("UTC", "America/New_York", 2024, "monday", "sunday"),
    Meeting("Asia/Kathmandu", "Europe/Paris", 2026),
    Meeting("Australia/Lord_Howe", "Asia/Kolkata", 2026),
    Meeting("Pacific/Apia", "UTC", 2011),
    Meeting("UTC", "Pacific/Apia", 2011),
    Meeting("America/St_Johns", "Europe/Dublin", 2009, "sunday", "monday"),
]


@pytest.mark.slow
@pytest.mark.parametrize("meeting", MEETINGS[::3], ids=lambda m: f"{m.down}-{m.up}-{m.year}")
def test_fast_equals_slow(meeting: Meeting) -> None:
    assert compare(meeting, seed=4, cases_a_pair=CASES_A_PAIR) == 64 * CASES_A_PAIR


@pytest.mark.long
@pytest.mark.parametrize("meeting", MEETINGS, ids=lambda m: f"{m.down}-{m.up}-{m.year}")
def test_fast_equals_slow_at_length(meeting: Meeting) -> None:
    assert compare(meeting, seed=100, cases_a_pair=MANY_A_PAIR) == 64 * MANY_A_PAIR


def compare(meeting: Meeting, seed: int, cases_a_pair: int) -> int:
    """Compare that many cases for each pair of periods; how many there were."""
    random = Random(seed)
    compared = 0
    for down, up in product(Period, repeat=2):
        done = 0
        while done < cases_a_pair:
            offset = random_offset(random, down, up, meeting.year, one_clock=meeting.down == meeting.up)
            done += _compare(meeting, offset, down, up, random)
        compared += done
    return compared


def _compare(meeting: Meeting, offset: Offset, down: Period, up: Period, random: Random) -> bool:
    """Compare one case; False where it reaches beyond what the slow tables hold."""
    downs, ups = _cuts(meeting, down, up)
    if len(downs) < 3:
        return False
    number = random.randrange(1, len(downs) - 1)
    if not _is_inside(downs, number, offset):
        return False
    try:
        slow = needed_slices(offset, downs, number, ups)
    except IndexError:
        return False
    if slow and not (min(slow) > 0 and max(slow) < len(ups) - 1):
        return False
    calendar, other = Calendar(meeting.down, meeting.down_week, CALENDAR), Calendar(meeting.up, meeting.up_week)
    grid = other.grid(up)
    fast = mapping_between(offset, (calendar, down), grid).expand(calendar.grid(down).at(downs.start(number)))
    expected = ups.clock.starts(up)[sorted(slow)].tolist()
    assert [grid.start(ordinal) for ordinal in fast] == expected, f"{down} at {downs.start(number)} <- {up} {offset}"
    return True


def _cuts(meeting: Meeting, down: Period, up: Period) -> tuple[Cut, Cut]:
    first = clock(meeting.down, meeting.year, WEEK_DAYS.index(meeting.down_week))
    second = clock(meeting.up, meeting.year, WEEK_DAYS.index(meeting.up_week))
    if meeting.down == meeting.up and up is not Period.WEEK:
        second = first
    return Cut(first, down), Cut(second, up)


def _is_inside(downs: Cut, number: int, offset: Offset) -> bool:
    """The slice that encloses the window is whole in the tables too."""
    if offset.within is None:
        return True
    around = Cut(downs.clock, offset.within)
    firsts, _ = around.stretches(by_dates=False)
    first = downs.stretches(by_dates=False)[0][number]
    return bool(len(firsts) > 2 and firsts[1] <= first < firsts[-1])

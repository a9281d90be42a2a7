"""Forward and inverse agree: a slice needs another exactly where the other names it among those that need it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.dependency_model.offset.test_mapping_reference import MEETINGS, Meeting
from tests.dependency_model.random_offset import MINUTES, random_offset
from tests.dependency_model.reference_offset import CALENDAR
from tests.dependency_model.zones import calendars, instants, periods
from tidemark.dependency_model.offset import Offset, mapping_between
from tidemark.dependency_model.offset.offset import OffsetKind
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.offset import Mapping
    from tidemark.dependency_model.time.grid import Grid

ROUNDS = 1
A_FEW = MEETINGS[::10]


@pytest.mark.slow
@pytest.mark.parametrize("meeting", A_FEW, ids=lambda m: f"{m.down}-{m.up}-{m.year}")
def test_inverse_agrees_in_hard_years(meeting: Meeting) -> None:
    assert agree(meeting, seed=1, rounds=ROUNDS, most_users=1_000) >= 60 * ROUNDS


@pytest.mark.long
@pytest.mark.parametrize("meeting", MEETINGS, ids=lambda m: f"{m.down}-{m.up}-{m.year}")
def test_inverse_agrees_at_length(meeting: Meeting) -> None:
    assert agree(meeting, seed=10, rounds=180 * ROUNDS) == 64 * 180 * ROUNDS


def agree(meeting: Meeting, seed: int, rounds: int, most_users: int = 1_000_000) -> int:
    """Check pairs of slices near each other for every pair of periods; how many mappings were tried.

    Clock times of other dates have as many users as the longer period has shorter ones: `most_users` leaves out more.
    """
    random = Random(seed)
    down_calendar = Calendar(meeting.down, meeting.down_week, CALENDAR)
    up_calendar = Calendar(meeting.up, meeting.up_week)
    tried = 0
    for down, up, _ in product(Period, Period, range(rounds)):
        offset = random_offset(random, down, up, meeting.year, one_clock=meeting.down == meeting.up)
        if offset.kind is OffsetKind.DATE and MINUTES[up] // MINUTES[down] > most_users:
            continue
        mapping = mapping_between(offset, (down_calendar, down), up_calendar.grid(up))
        instant = _hard_instant(random, meeting)
        case = f"{down} <- {up} {offset} at {instant}"
        _check_from_below(mapping, down_calendar.grid(down).at(instant), random, case)
        _check_from_above(mapping, up_calendar.grid(up).at(instant), down_calendar.grid(down), case)
        tried += 1
    return tried


def _check_from_below(mapping: Mapping, down: int, random: Random, case: str) -> None:
    needed = mapping.expand(down)
    assert list(needed) == sorted(set(needed)), case
    for up in random.sample(list(needed), k=min(len(needed), 6)):
        assert down in mapping.inverse(up), (case, down, up)


def _check_from_above(mapping: Mapping, up: int, grid: Grid, case: str) -> None:
    """Every user needs the slice, and none does among those just before, just after and between the users."""
    users = mapping.inverse(up)
    assert isinstance(users, range) or list(users) == sorted(set(users)), case
    near = users if len(users) <= 12 else [*users[:6], *users[-6:]]
    for down in near:
        assert up in mapping.expand(down), (case, down, up)
    beside = {other for user in near for other in (user - 2, user - 1, user + 1, user + 2)}
    for down in (other for other in beside if other not in users):
        assert down > grid.last or up not in mapping.expand(down), (case, down, up)


def _hard_instant(random: Random, meeting: Meeting) -> int:
    """An instant of the year, as a rule within two days of a change of a clock."""
    changes = [change for zone in (meeting.down, meeting.up) for change in Zone.load(zone).changes[1:]]
    year = (meeting.year - 1970) * 31_556_952
    near = [change for change in changes if year <= change < year + 31_556_952]
    if near and random.random() < 0.8:
        return random.choice(near) + random.randint(-172_800, 172_800)
    return random.randint(year, year + 31_556_952)


@given(calendars, calendars, periods, periods, instants, st.randoms(use_true_random=False))
def test_inverse_agrees_anywhere(
    down_calendar: Calendar, up_calendar: Calendar, down: Period, up: Period, instant: datetime, random: Random
) -> None:
    assume(1975 < instant.year < 2195)
    one_clock = down_calendar.time_zone == up_calendar.time_zone
    offset = random_offset(random, down, up, instant.year, one_clock=one_clock)
    clock = replace(down_calendar, holidays=CALENDAR)
    mapping = mapping_between(offset, (clock, down), up_calendar.grid(up))
    seconds = int(instant.timestamp())
    _check_from_below(mapping, down_calendar.grid(down).at(seconds), random, str(offset))
    _check_from_above(mapping, up_calendar.grid(up).at(seconds), down_calendar.grid(down), str(offset))


def test_a_skipped_hour_names_nothing_and_a_repeated_one_names_two() -> None:
    calendar = Calendar("Europe/Paris")
    days, hours = calendar.grid(Period.DAY), calendar.grid(Period.HOUR)
    mapping = mapping_between(Offset.parse("Set 2"), (calendar, Period.DAY), hours)
    assert list(mapping.expand(days.ordinal("2026-03-29"))) == []
    autumn = [hours.key(hour) for hour in mapping.expand(days.ordinal("2026-10-25"))]
    assert autumn == ["2026-10-25T02", "2026-10-25T02+01:00"]

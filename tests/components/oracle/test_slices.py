"""Which slices are asked about, and when."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import pairwise

from tests.components.oracle.slices import slices
from tests.components.workload import clock
from tests.components.workload.changes import Settings


def test_the_recorded_days_have_nine_days_forty_eight_hours_one_week_and_the_month() -> None:
    ending = slices(Settings())

    assert Counter(own.period for own in ending) == {"day": 9, "hour": 48, "week": 1, "month": 1}
    assert [own.name for own in ending if own.period in ("week", "month")] == ["2026-03-23", "2026-03"]
    assert [own.name for own in ending if own.period == "hour"][0::47] == ["2026-03-30T00", "2026-03-31T23"]


def test_a_day_is_remembered_before_the_periods_that_it_ends_are_asked_about() -> None:
    ending = slices(Settings())

    assert all(earlier.end <= later.end for earlier, later in pairwise(ending))
    for longer in (own for own in ending if own.period in ("week", "month")):
        (day,) = [own for own in ending if own.period == "day" and own.end == longer.end]
        assert ending.index(day) < ending.index(longer)


def test_the_day_of_the_spring_change_ends_after_twenty_three_hours() -> None:
    (own,) = slices(Settings(first_day=date(2026, 3, 29), days=1))

    assert own.end - clock.instant(own.start) == 23 * clock.HOUR


def test_a_week_that_began_before_the_first_day_is_not_asked_about() -> None:
    assert {own.period for own in slices(Settings(first_day=date(2026, 3, 24), days=6))} == {"day"}

"""Paris time: days of 23, 24 and 25 hours, and the second before and after the spring change."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from tests.components.workload import clock


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 28), 24), (date(2026, 3, 29), 23), (date(2026, 10, 25), 25)], ids=str
)
def test_a_day_has_the_hours_of_its_local_clock(day: date, hours: int) -> None:
    assert len(clock.hours(day)) == hours


def test_the_spring_change_skips_an_hour() -> None:
    change = clock.at_hour(date(2026, 3, 29), 3)

    assert clock.utc(change) == datetime(2026, 3, 29, 1)  # noqa: DTZ001 - without zone, as the databases have it
    assert clock.wall(change - 1) == datetime(2026, 3, 29, 1, 59, 59)  # noqa: DTZ001 - as above
    assert clock.wall(change) == datetime(2026, 3, 29, 3)  # noqa: DTZ001 - as above


def test_wall_clock_and_instant_are_inverse() -> None:
    for at in range(clock.midnight(date(2026, 3, 28)), clock.midnight(date(2026, 3, 31)), 977):
        assert clock.instant(clock.wall(at)) == at

"""Workdays by calendars of the library, each asked of it date by date."""

from __future__ import annotations

from datetime import date, timedelta

import holidays
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.time.workdays import known_workdays, workdays
from tidemark.errors import CalendarError

EPOCH = date(1970, 1, 1)
ORACLES = {
    "FR": holidays.country_holidays("FR"),
    "CN": holidays.country_holidays("CN"),
    "XNYS": holidays.financial_holidays("XNYS"),
}


def _day(text: str) -> int:
    return (date.fromisoformat(text) - EPOCH).days


@pytest.mark.parametrize(
    ("calendar", "day", "is_workday"),
    [
        ("FR", "2026-07-14", False),
        ("FR", "2026-07-13", True),
        ("FR", "2026-12-26", False),
        ("FR", "2028-12-26", True),
        ("FR-57", "2028-12-26", False),
        ("CN", "2026-02-14", True),
        ("CN", "2026-02-15", False),
        ("XNYS", "2026-07-03", False),
        ("weekdays", "2026-12-25", True),
        ("weekdays", "2026-12-26", False),
    ],
)
def test_a_workday(calendar: str, day: str, is_workday: bool) -> None:
    assert workdays(calendar).is_workday(_day(day)) is is_workday


@given(
    st.sampled_from(sorted(ORACLES)),
    st.dates(date(1990, 1, 1), date(2040, 1, 1)),
    st.integers(-9, 9),
    st.integers(0, 9),
)
def test_workdays_equal_a_count_day_by_day(calendar: str, day: date, first: int, more: int) -> None:
    is_workday = ORACLES[calendar].is_working_day
    near = [day + timedelta(days=count) for count in range(-60, 61)]
    before = [other for other in near if other < day and is_workday(other)]
    after = [other for other in near if other > day and is_workday(other)]
    numbered = {-number: other for number, other in enumerate(reversed(before), 1)} | dict(enumerate(after, 1))
    numbered |= {0: day} if is_workday(day) else {}
    expected = [(numbered[count] - EPOCH).days for count in range(first, first + more + 1) if count in numbered]
    number = (day - EPOCH).days
    assert workdays(calendar).counted(number, first, first + more) == expected
    for counted in expected:
        low, high = workdays(calendar).counting(counted, first, first + more) or (0, -1)
        assert low <= number <= high


@pytest.mark.parametrize(
    ("name", "hint"),
    [("FRR", "did you mean 'FR'"), ("FR-5", "did you mean 'FR-"), ("weekday", "'weekdays'"), ("", "FR")],
)
def test_an_unknown_calendar_is_refused(name: str, hint: str) -> None:
    with pytest.raises(CalendarError) as raised:
        known_workdays(name)
    assert hint in str(raised.value) or hint in str(raised.value.hint)

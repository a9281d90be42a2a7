"""Zones and years in which something hard happens, and strategies over them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from hypothesis import strategies as st

from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.date_grid import WEEK_DAYS


class Hard(NamedTuple):
    """A zone, a year, and what is hard about it."""

    zone: str
    year: int
    why: str


HARD = [
    Hard("Europe/Paris", 2026, "summer time, by the hour"),
    Hard("America/New_York", 2024, "summer time, in a leap year"),
    Hard("Asia/Kolkata", 2026, "half an hour beside the others"),
    Hard("Asia/Kathmandu", 2026, "a quarter of an hour beside the others"),
    Hard("Australia/Lord_Howe", 2026, "summer time of half an hour"),
    Hard("Pacific/Apia", 2011, "a day that was skipped"),
    Hard("Pacific/Kiritimati", 1994, "a last day of the year that was skipped"),
    Hard("Europe/Dublin", 2026, "winter time that counts as negative summer time"),
    Hard("America/Sao_Paulo", 2018, "a midnight that does not exist"),
    Hard("Asia/Beirut", 2023, "a midnight that does not exist"),
    Hard("America/St_Johns", 2009, "summer time that begins and ends a minute after midnight"),
    Hard("Antarctica/Casey", 2020, "three hours at a minute past midnight"),
    Hard("Africa/Casablanca", 2024, "summer time but for a month of the moon's year"),
    Hard("UTC", 2026, "nothing"),
    Hard("UTC+05:30", 2024, "a fixed offset"),
]

calendars = st.builds(Calendar, st.sampled_from(sorted({hard.zone for hard in HARD})), st.sampled_from(WEEK_DAYS))
periods = st.sampled_from(list(Period))
instants = st.one_of(
    st.datetimes(datetime(1972, 1, 1), datetime(2197, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    st.sampled_from(HARD).flatmap(
        lambda hard: st.datetimes(
            datetime(hard.year, 1, 1),  # noqa: DTZ001
            datetime(hard.year, 12, 31, 23, 59),  # noqa: DTZ001
            timezones=st.just(UTC),
        )
    ),
)

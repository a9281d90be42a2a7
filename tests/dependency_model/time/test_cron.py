"""Cron texts, against a look at every minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tidemark.dependency_model.time.cron import Cron
from tidemark.dependency_model.time.zone import Zone
from tidemark.errors import ParseError

PARIS = ZoneInfo("Europe/Paris")


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("30 0 * * *", {"*-30-0"}),
        ("0 2,14 ? * *", {"*-0-2", "*-0-14"}),
        ("*/20 6 * * mon-wed", {f"{day}-{minute}-6" for day in (0, 1, 2) for minute in (0, 20, 40)}),
        ("5 4 * * sun", {"6-5-4"}),
        ("5 4 * * 7", {"6-5-4"}),
    ],
)
def test_the_next_time_is_the_first_minute_that_matches(text: str, times: set[str]) -> None:
    start = datetime(2026, 6, 3, 7, 13, tzinfo=UTC)
    fromtimestamp = datetime.fromtimestamp(
        Cron.parse(text).next(int(start.timestamp()), Zone.load("Europe/Paris")), UTC
    )
    minute = start
    while True:
        local = minute.astimezone(PARIS)
        if {f"*-{local.minute}-{local.hour}", f"{local.weekday()}-{local.minute}-{local.hour}"} & times:
            break
        minute += timedelta(minutes=1)
    assert fromtimestamp == minute


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 3 1 * *", "2026-03-02T00:00", "2026-04-01T01:00"),
        ("0 3 29 feb *", "2026-03-02T00:00", "2028-02-29T02:00"),
        ("0 3 13 * fri", "2026-03-02T00:00", "2026-03-06T02:00"),
        ("0 3 */10 jan,mar *", "2026-03-02T00:00", "2026-03-11T02:00"),
        ("30 2 * * *", "2026-03-28T12:00", "2026-03-29T01:00"),
        ("30 2 * * *", "2026-10-24T12:00", "2026-10-25T00:30"),
        ("0 0 * * *", "2026-03-28T23:00", "2026-03-28T23:00"),
    ],
)
def test_next_times_of_paris(text: str, after: str, expected: str) -> None:
    instant = int(datetime.fromisoformat(after + "+00:00").timestamp())
    next_time = Cron.parse(text).next(instant, Zone.load("Europe/Paris"))
    assert datetime.fromtimestamp(next_time, UTC) == datetime.fromisoformat(expected + "+00:00")


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
@pytest.mark.parametrize("text", ["0 * * * *", "5 * * * *", "*/15 1,2 * * *", "30 1 * * *", "45 2 * * *", "0 3 * * *"])
def test_each_time_that_the_clock_shows_on_a_night_of_a_change_counts(zone: str, text: str) -> None:
    clock, cron, step = ZoneInfo(zone), Cron.parse(text), 900 if "5" not in text else 300
    for night in ("2026-04-04T10", "2026-10-24T18", "2026-10-31T22"):
        start = int(datetime.fromisoformat(night + ":00+00:00").timestamp())
        shown = {
            instant
            for instant in range(start, start + 26 * 3600, step)
            for local in (datetime.fromtimestamp(instant, clock),)
            if local.minute in cron.minutes and local.hour in cron.hours
        }
        following = {cron.next(instant, Zone.load(zone)) for instant in range(start, max(shown) + 1, step)}
        assert following == shown


def test_the_hour_that_comes_twice_has_an_earliest_time_each() -> None:
    cron, paris = Cron.parse("5 * * * *"), Zone.load("Europe/Paris")
    for after, expected in (("02:00+02:00", "02:05+02:00"), ("02:00+01:00", "02:05+01:00")):
        instant, due = (int(datetime.fromisoformat(f"2026-10-25T{clock}").timestamp()) for clock in (after, expected))
        assert cron.next(instant, paris) == due


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 0 * *", "five fields"),
        ("60 0 * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 0 0 * *", "day of month"),
        ("0 0 * foo *", "month"),
        ("0 0 * - *", "month"),
        ("0 0 * * 8", "day of week"),
        ("0 0 30 feb *", "the expression never matches a date"),
        ("5-1 0 * * *", "minute"),
        ("*/0 0 * * *", "minute"),
        ("mon 0 * * *", "minute"),
    ],
)
def test_an_invalid_cron_expression_is_refused(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        Cron.parse(text)

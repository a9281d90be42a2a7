"""Hours put together to an instant, as hourly tables are often asked for their last hours."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from datetime import UTC as UTC_ZONE
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.time import Calendar, Period

UTC, PARIS, START = Calendar("UTC"), Calendar("Europe/Paris"), "2024-01-01"
HOUR = "to_timestamp(concat(dt, ' ', hour, ':00:00'))"
CUT = "to_timestamp(concat(dt, ' ', substr(hour, 1, 2), ':00:00'))"
TEXT = "to_timestamp(concat(dt, ' ', hour), 'yyyy-MM-dd HH')"
SECONDS = "unix_timestamp(concat(dt, ' ', hour), 'yyyy-MM-dd HH')"
PIPED = "to_timestamp(dt || ' ' || hour || ':00:00')"
SHANGHAI = f"to_date(from_utc_timestamp({HOUR}, 'Asia/Shanghai'))"
NOW = "unix_timestamp(:period_start)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("down", "condition", "offset"),
    [
        (Period.HOUR, f"{HOUR} BETWEEN :period_start - INTERVAL 6 HOURS AND :period_start", "Range -6..0"),
        pytest.param(
            *(Period.HOUR, f"{CUT} > :period_start - INTERVAL 6 HOURS AND {CUT} <= :period_start", "Range -5..0"),
            marks=pytest.mark.long,
        ),
        (Period.HOUR, f"{TEXT} >= :period_start - INTERVAL 1 DAY AND {TEXT} < :period_start", "Range -24..-1"),
        (Period.HOUR, f"{SECONDS} > {NOW} - 7200 AND {SECONDS} <= {NOW}", "Set -1,0"),
        (Period.HOUR, f"{PIPED} >= :period_start - INTERVAL 2 HOURS AND {PIPED} < :period_start", "Set -2,-1"),
        (Period.DAY, f"dt BETWEEN date_sub(:biz_date, 1) AND :biz_date AND {SHANGHAI} = :biz_date", "Range -8..15"),
        (Period.DAY, f"{HOUR} >= :period_start - INTERVAL 6 HOURS AND {HOUR} < :period_end", "Range -6..23"),
    ],
)
def test_the_last_hours(down: Period, condition: str, offset: str) -> None:
    assert _read(f"SELECT * FROM clicks WHERE {condition}", down, UTC) == offset


LOCAL_DAYS = ("America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia")


@pytest.mark.slow
@pytest.mark.parametrize("zone", LOCAL_DAYS)
def test_a_local_day_of_utc_hours_is_all_of_them(zone: str) -> None:
    """Also where the local midnight lies within an hour: the hour that holds it is of the day before."""
    condition = f"to_date(from_utc_timestamp({HOUR}, '{zone}')) = :biz_date"
    down, clicks = EntityOutline("down", Period.DAY, Calendar(zone), START), EntityOutline("c", Period.HOUR, UTC, START)
    read = infer([read_query(f"SELECT * FROM c WHERE {condition}")], down, {"c": clicks}, session=QuerySession(zone))
    assert str(read["c"]) == "all"


@pytest.mark.parametrize("zone", LOCAL_DAYS)
def test_all_holds_each_hour_whose_local_date_python_finds_to_be_the_day(zone: str) -> None:
    days, hours = Calendar(zone).grid(Period.DAY), UTC.grid(Period.HOUR)
    mapping = mapping_between(Offset.parse("all"), (Calendar(zone), Period.DAY), hours)
    first, end = hours.ordinal("2024-01-02T00"), hours.ordinal("2025-01-01T00")
    for hour in range(first, end):
        local = datetime.fromtimestamp(hours.start(hour), UTC_ZONE).astimezone(ZoneInfo(zone)).date()
        assert hour in mapping.expand(days.ordinal(local.isoformat()))


def test_an_hour_that_comes_twice_is_no_text_of_an_instant() -> None:
    """Its key is `02+01:00`: Spark's cast fails on that day."""
    read = _read(f"SELECT * FROM clicks WHERE {HOUR} >= :period_start AND {HOUR} < :period_end", Period.DAY, PARIS)
    assert read.startswith(f"undecidable: {HOUR} is not understood")


def _read(sql: str, down: Period, calendar: Calendar) -> str:
    clicks = EntityOutline("clicks", Period.HOUR, calendar, START)
    reads = infer(
        [read_query(sql)], EntityOutline("down", down, calendar, START), {"clicks": clicks}, session=QuerySession("UTC")
    )
    return str(reads["clicks"])

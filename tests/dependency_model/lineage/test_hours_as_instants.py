"""Hours put together to an instant, as hourly tables are often asked for their last hours."""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from datetime import UTC as UTC_ZONE
from datetime import datetime
from random import Random
from zoneinfo import ZoneInfo

import pytest

from tests.examples import each
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.type_conversion import Conversion
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, point
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.zone import Zone

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
    each(
        3,
        [
            (Period.HOUR, f"{HOUR} BETWEEN :period_start - INTERVAL 6 HOURS AND :period_start", "Range -6..0"),
            (Period.HOUR, f"{CUT} > :period_start - INTERVAL 6 HOURS AND {CUT} <= :period_start", "Range -5..0"),
            (Period.HOUR, f"{TEXT} >= :period_start - INTERVAL 1 DAY AND {TEXT} < :period_start", "Range -24..-1"),
            (Period.HOUR, f"{SECONDS} > {NOW} - 7200 AND {SECONDS} <= {NOW}", "Set -1,0"),
            (Period.HOUR, f"{PIPED} >= :period_start - INTERVAL 2 HOURS AND {PIPED} < :period_start", "Set -2,-1"),
            (Period.DAY, f"dt BETWEEN date_sub(:biz_date, 1) AND :biz_date AND {SHANGHAI} = :biz_date", "Range -8..15"),
            (Period.DAY, f"{HOUR} >= :period_start - INTERVAL 6 HOURS AND {HOUR} < :period_end", "Range -6..23"),
        ],
    ),
)
def test_the_last_hours(down: Period, condition: str, offset: str) -> None:
    assert _read(f"SELECT * FROM clicks WHERE {condition}", down, UTC) == offset


LOCAL_DAYS = ("America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia")


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


@pytest.mark.parametrize("zone", LOCAL_DAYS)
def test_instants_of_a_stretch_of_texts_hold_the_instant_of_each_text(zone: str) -> None:
    conversion, dice = Conversion(Zone.load(zone)), Random(zone)
    change = max(Zone.load(zone).changes_within(0, 2_000_000_000), default=1_700_000_000)
    for _ in range(200):
        first, length = change // 3600 + dice.randrange(-60, 60), dice.randrange(1, 80)
        texts = [
            f"{datetime.fromtimestamp(at * 3600, UTC_ZONE):%Y-%m-%d %H:00:00}" for at in range(first, first + length)
        ]
        span = conversion.cast(Range(Type.STRING, texts[0], texts[-1], is_shaped=True), Type.TIMESTAMP)
        instants = [conversion.cast(point(Type.STRING, text), Type.TIMESTAMP) for text in texts]
        assert isinstance(span, Range)
        assert all(isinstance(instant, Range) and span.low <= instant.low <= span.high for instant in instants)


def test_texts_between_two_days_that_some_months_lack_are_no_dates() -> None:
    texts = Range(Type.STRING, "2024-01-30 00:00:00", "2024-03-30 00:00:00", is_shaped=True)
    assert Conversion(Zone.load("UTC")).cast(texts, Type.TIMESTAMP) is Special.IMPRECISE


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

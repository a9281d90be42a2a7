"""A query that treats one day, hour or year in a way of its own is looked at there, whenever its entity begins."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dependency_model.lineage.worlds import PARIS
from tests.examples import each
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Calendar, Period

UTC = Calendar("UTC")
STARTS = [
    "2024-01-20",
    *(pytest.param(start, marks=pytest.mark.long) for start in ("2024-01-01", "2024-04-10", "2025-11-30")),
]
OF_DAYS = [
    "date_add(:biz_date, 5) = last_day(:biz_date)",
    "date_sub(:biz_date, 12) = trunc(:biz_date, 'MM')",
    "date_add(date_add(:biz_date, 4), 9) = last_day(:biz_date)",
    "trunc(date_add(:biz_date, 25), 'MM') = date_add(:biz_date, 25)",
    "day(:biz_date) = 15",
    "year(:biz_date) = 2037",
    "date_format(:biz_date, 'yyyyMMdd') = '20310607'",
    ":biz_date = make_date(2031, 6, 7)",
    "datediff(:biz_date, DATE '2026-01-01') = 777",
    "date_add(:biz_date, 100) = to_date('20370501', 'yyyyMMdd')",
    ":biz_date = add_months(DATE '2029-11-15', 20)",
    ":biz_date = DATE '2029-11-15' + INTERVAL 20 MONTHS",
    "dateadd(YEAR, 3, DATE '2029-11-15') = :biz_date",
    "add_months(add_months(date_add(:biz_date, 5), -1), 1) <> date_add(:biz_date, 5)",
]
OF_HOURS = [
    ":biz_hour = '06'",
    "day(:biz_date) = 15",
    "day(:biz_date) = 15 AND :biz_hour = '11'",
    "month(:biz_date) = 8",
    ":biz_date = DATE '2031-06-07' AND :biz_hour = '17'",
]


def _is_told(sql: str, down: EntityOutline, up: EntityOutline) -> bool:
    read = infer([read_query(sql)], down, {up.name: up})[up.name]
    return read.undecidable.startswith("no offset names")


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("rare", each(2, OF_DAYS))
def test_a_day_that_is_singled_out_is_looked_at(rare: str, start: str) -> None:
    sql = f"SELECT x FROM t WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1) AND {rare}"  # noqa: S608
    assert _is_told(sql, EntityOutline("down", Period.DAY, PARIS, start), EntityOutline("t", Period.DAY, PARIS, start))


@pytest.mark.slow
@pytest.mark.parametrize("zone", [PARIS, pytest.param(UTC, marks=pytest.mark.long)])
@pytest.mark.parametrize("rare", each(2, OF_HOURS))
def test_an_hour_that_is_singled_out_is_looked_at(rare: str, zone: Calendar) -> None:
    sql = (
        "SELECT x FROM t WHERE dt = :biz_date AND hour = :biz_hour "  # noqa: S608
        f"OR dt = date_sub(:biz_date, 1) AND hour = '23' AND {rare}"
    )
    start = "2024-01-10"
    assert _is_told(sql, EntityOutline("down", Period.HOUR, zone, start), EntityOutline("t", Period.HOUR, zone, start))


@pytest.mark.long
@given(start=st.dates(date(2010, 1, 1), date(2030, 1, 1)), ahead=st.integers(0, 4_000), count=st.integers(-400, 400))
def test_any_named_day_is_looked_at(start: date, ahead: int, count: int) -> None:
    named = start + timedelta(ahead) + timedelta(count)
    rare = f"date_add(:biz_date, {count}) = DATE '{named}'"
    sql = f"SELECT x FROM t WHERE dt = :biz_date OR dt = date_sub(:biz_date, 1) AND {rare}"  # noqa: S608
    down = EntityOutline("down", Period.DAY, UTC, start.isoformat())
    assert _is_told(sql, down, EntityOutline("t", Period.DAY, UTC, "2000-01-01"))

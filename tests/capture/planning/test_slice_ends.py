"""Which slices a table's changes are cut at, across the 23-hour day in Paris."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tidemark.capture.errors import TooManySlicesError
from tidemark.capture.planning.slice_ends import missed_slice_ends, open_slice_ends
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar

PARIS = Calendar("Europe/Paris")
TABLE = SourceTable(
    name="ods_orders",
    table="school.orders_*",
    instances=("a",),
    key=("order_id",),
    partition_by=None,
    snapshot_series=(("ods_orders", "day", "2026-03-28"), ("ods_orders_1h", "hour", "2026-03-29T00")),
)


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def test_slice_ends_up_to_the_read_time_and_one_more_of_each_entity() -> None:
    open_ends = open_slice_ends(TABLE, PARIS, {}, 0, ms("2026-03-29 02:30"))
    days = [(entry.slice, entry.end_ms) for entry in open_ends if entry.period == "day"]
    assert days == [("2026-03-28", ms("2026-03-28 23:00")), ("2026-03-29", ms("2026-03-29 22:00"))]
    hours = [entry.slice for entry in open_ends if entry.period == "hour"]
    assert hours == ["2026-03-29T00", "2026-03-29T01", "2026-03-29T03", "2026-03-29T04"]


def test_tagged_slices_are_not_cut_again() -> None:
    closed = {"ods_orders": ms("2026-03-28 23:00"), "ods_orders_1h": ms("2026-03-29 01:00")}
    open_ends = open_slice_ends(TABLE, PARIS, closed, ms("2026-03-29 00:59"), ms("2026-03-29 01:30"))
    assert [entry.slice for entry in open_ends] == ["2026-03-29", "2026-03-29T03"]


def test_an_entity_that_is_new_gets_no_name_for_a_state_that_has_passed() -> None:
    closed = {"ods_orders": ms("2026-03-28 23:00")}
    merged = ms("2026-03-29 01:10")
    assert [slice_end.slice for slice_end in missed_slice_ends(TABLE, PARIS, closed, merged)] == [
        "2026-03-29T00",
        "2026-03-29T01",
    ]
    open_ends = open_slice_ends(TABLE, PARIS, closed, merged, merged)
    assert [entry.slice for entry in open_ends if entry.period == "hour"] == ["2026-03-29T03"]


LAST_MS = 2**32 * 1000 - 1
"""The last time that a binlog can have: in 2106."""


@pytest.mark.parametrize(
    ("period", "start"), [pytest.param("5min", "2026-03-28T00:00", marks=pytest.mark.long), ("hour", "2026-03-28T00")]
)
def test_a_time_of_another_century_stops_the_table(period: str, start: str) -> None:
    table = replace(TABLE, snapshot_series=(("ods_orders", "day", "2026-03-28"), ("fine", period, start)))
    with pytest.raises(TooManySlicesError, match=r"ods_orders: an event at 2106-.* too many slices of fine: .*100,000"):
        open_slice_ends(table, PARIS, {}, 0, LAST_MS)
    missed = missed_slice_ends(table, PARIS, {}, LAST_MS)
    assert [slice_end.entity for slice_end in missed].count("fine") == 100_000


def test_days_up_to_another_century_are_tagged() -> None:
    """Thirty thousand: a source may say so, and nothing stops."""
    days = replace(TABLE, snapshot_series=(("ods_orders", "day", "2026-03-28"),))
    assert len(open_slice_ends(days, PARIS, {}, 0, LAST_MS)) == 29_171

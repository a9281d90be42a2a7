"""The independent figures of the demo: they have to be able to differ."""

from __future__ import annotations

import json
import lzma
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tidemark.console.demo.outside_answers import compare_windows, expected_ad_costs, recorded_rows
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.record_counts import RecordCount, RecordCounts
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

PARIS = ZoneInfo("Europe/Paris")
DAYS = (date(2026, 3, 23), date(2026, 3, 24))
MONDAY_MS = int(datetime(2026, 3, 23, tzinfo=UTC).timestamp() * 1000)
"""Of the recording's clock, which has no zone."""
HOUR_MS = 3_600_000


def change(table: str, hour: float, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    at = int(datetime(2026, 3, 23, tzinfo=PARIS).timestamp() * 1000 + hour * HOUR_MS)
    value = {"op": "x", "before": before, "after": after, "source": {"table": table, "ts_ms": at}}
    return {"value": value}


def user(number: int, hour: float, channel: str) -> dict[str, Any]:
    return {"user_id": number, "registered_at": MONDAY_MS + int(hour * HOUR_MS), "channel": channel}


def order(hour: float) -> dict[str, Any]:
    return {"created_at": MONDAY_MS + int(hour * HOUR_MS)}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    told = [
        change("users", 1, None, user(1, 1, "advert")),
        change("users", 2, None, user(2, 2, "search")),
        change("orders_0", 3, None, order(3)),
        change("orders_0", 4, None, order(3)),
        change("users", 5, user(2, 2, "search"), user(2, 2, "advert")),
        change("orders_1", 24.5, None, order(23.9)),  # written after midnight, created before it
        change("users", 25, user(1, 1, "advert"), None),  # after Monday's midnight
        change("users", 26, None, user(3, 26, "advert")),
        change("orders_0", 27, order(3), None),
    ]
    folder = tmp_path / "sample" / "changes" / "a"
    folder.mkdir(parents=True)
    with lzma.open(folder / "2026-03-23.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in told)
    return tmp_path / "sample"


def test_users_are_those_of_each_midnight_and_orders_those_of_the_end(sample: Path) -> None:
    recorded = recorded_rows(sample, DAYS, PARIS)
    assert recorded.new_users == {DAYS[0]: {"advert": 2}, DAYS[1]: {"advert": 1}}
    first = MONDAY_MS // 60_000
    assert {minute - first: rows for minute, rows in recorded.orders.items() if rows} == {180: 1, 1434: 1}


def test_costs_are_summed_over_regions_and_shared_among_new_users(sample: Path, tmp_path: Path) -> None:
    columns = {
        "dt": [DAYS[0]] * 3,
        "region": ["a", "b", "a"],
        "channel": ["advert", "advert", "search"],
        "clicks": [3, 4, 5],
        "cost": [Decimal("1.00"), Decimal("2.01"), Decimal("7.00")],
    }
    write_deltalake(tmp_path / "ads", pa.table(columns))
    monday, tuesday = expected_ad_costs(tmp_path / "ads", recorded_rows(sample, DAYS, PARIS))
    assert [tuple(row.values()) for row in monday.rows] == [
        ("advert", 7, Decimal("3.01"), 2, Decimal("1.51")),
        ("search", 5, Decimal("7.00"), 0, None),
    ]
    assert tuesday.rows == ()


@pytest.mark.parametrize(("lake", "final", "equal"), [(2, True, 1), (1, True, 0), (3, True, 0), (2, False, 0)])
def test_a_window_with_other_counts_or_an_open_slot_differs(
    sample: Path, tmp_path: Path, lake: int, final: bool, equal: int
) -> None:
    warehouse, database = load_warehouse(Settings.at(tmp_path / "data")), Database.at(tmp_path / "state.db")
    minute = int(datetime(2026, 3, 23, 3, tzinfo=PARIS).timestamp()) // 60
    told = [RecordCount("ods_orders", minute, "source", "x", 2), RecordCount("ods_orders", minute, "lake", "x", lake)]
    end = int(datetime(2026, 3, 24, tzinfo=PARIS).timestamp()) // 60
    RecordCounts(database).report(told, {"ods_orders": end if final else minute})
    compared = compare_windows(
        recorded_rows(sample, DAYS, PARIS), warehouse, database, [Slice("orders_complete_1d", "2026-03-23")]
    )
    assert (compared.checked, compared.equal) == (1, equal)

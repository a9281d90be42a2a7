"""The recording in the repository: complete, small enough, and leading to what the oracle saw in the end."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from typing import Any

import pytest

from tests.components import replay
from tests.components.record import MEGABYTE
from tests.components.workload.changes import Settings
from tests.components.workload.plan import end_of
from tests.components.workload.schema import COUPON_COLUMN, HEARTBEAT, INSTANCES, TABLES
from tidemark.console.project_files import SAMPLE

DAYS = [f"2026-03-{day}" for day in range(23, 32)]


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    with lzma.open(SAMPLE / "oracle.json.xz", "rt", encoding="utf-8") as file:
        answers: dict[str, Any] = json.load(file)
        return answers


def test_it_is_small_enough_and_holds_enough(oracle: dict[str, Any]) -> None:
    assert sum(file.stat().st_size for file in SAMPLE.rglob("*") if file.is_file()) <= 8 * MEGABYTE
    assert oracle["changes"] >= 150_000


def test_every_slice_has_its_snapshots_and_figures(oracle: dict[str, Any]) -> None:
    snapshots = Counter((own["table"], own["period"]) for own in oracle["snapshots"])
    figures = Counter(own["entity"] for own in oracle["metrics"])

    assert snapshots == {(table.name, "day"): 9 for table in TABLES} | {
        ("orders", "hour"): 48,
        ("lesson_attendance", "hour"): 48,
    }
    daily = ("ads_attendance_rate", "ads_active_users", "ads_retention", "ads_gmv_course")
    others = {"ads_live_1h": 48, "ads_active_users_1w": 1, "ads_active_users_1m": 1}
    assert figures == dict.fromkeys(daily, 9) | others
    assert all(own["rows"] for own in oracle["metrics"])


def test_the_added_column_counts_from_its_day_on(oracle: dict[str, Any]) -> None:
    days = [own for own in oracle["snapshots"] if (own["table"], own["period"]) == ("orders", "day")]

    assert [own["slice"] for own in days if COUPON_COLUMN in own["columns"]] == DAYS[3:]


@pytest.mark.parametrize("instance", INSTANCES)
def test_an_instance_has_a_file_a_day_and_the_heartbeats_that_close_the_last(instance: str) -> None:
    files = replay.files(SAMPLE, instance)
    closing = [record["value"]["source"]["table"] for record in replay.records(files[-1:])]

    assert [file.name for file in files] == [f"{day}.jsonl.xz" for day in [*DAYS, "2026-04-01"]]
    assert closing == [HEARTBEAT] * 3


@pytest.mark.long
@pytest.mark.slow
def test_it_leads_to_what_the_oracle_saw_at_the_last_midnight(oracle: dict[str, Any]) -> None:
    tables = replay.state(SAMPLE, INSTANCES, end_of(Settings()))

    last = [own for own in oracle["snapshots"] if (own["period"], own["slice"]) == ("day", DAYS[-1])]
    for own in last:
        (table,) = [known for known in TABLES if known.name == own["table"]]
        assert own["rows"] == sum(len(tables[name]) for name in table.physical)
        assert own["checksum"] == str(replay.checksum(tables, table.physical, own["columns"]))
    assert len(last) == len(TABLES)


@pytest.mark.slow
@pytest.mark.parametrize("instance", INSTANCES)
def test_no_offset_is_missing(instance: str) -> None:
    offsets = [record["offset"] for record in replay.records(replay.files(SAMPLE, instance))]

    assert offsets == list(range(len(offsets)))
    assert len(offsets) > 80_000

"""The whole chain on real servers: workload, MariaDB, Debezium, Kafka, recording, oracle."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.components import binlog, replay
from tests.components.availability import KAFKA, MARIADB, require
from tests.components.record import record
from tests.components.recording import event_time
from tests.components.workload import clock
from tests.components.workload.changes import Settings
from tests.components.workload.plan import end_of
from tests.components.workload.schema import (
    COUPON_COLUMN,
    COUPON_DAY,
    HEARTBEAT,
    INSTANCES,
    ORDERS,
    TABLES,
    instance_of,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.xdist_group("capture")]

SETTINGS = Settings(first_day=COUPON_DAY, days=1, changes_per_day=1_500)
OPERATIONS = {"c": "insert", "u": "update", "d": "delete"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the servers' data directories are."""
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory, work: Path) -> Path:
    """A recording of the day on which a column is added."""
    require(MARIADB, KAFKA)
    out = tmp_path_factory.mktemp("recording")
    record(SETTINGS, out, work, print)
    return out


@pytest.fixture(scope="module")
def oracle(recording: Path) -> dict[str, Any]:
    with lzma.open(recording / "oracle.json.xz", "rt", encoding="utf-8") as file:
        answers: dict[str, Any] = json.load(file)
        return answers


@pytest.fixture(scope="module")
def topics(recording: Path) -> dict[str, list[dict[str, Any]]]:
    return {instance: list(replay.records(replay.files(recording, instance))) for instance in INSTANCES}


def rows_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record["value"] for record in records if record["value"] and "op" in record["value"]]


@pytest.mark.parametrize("instance", INSTANCES)
def test_every_row_change_of_the_binlog_is_recorded(
    instance: str, topics: dict[str, list[dict[str, Any]]], work: Path
) -> None:
    recorded = Counter((row["source"]["table"], OPERATIONS[row["op"]]) for row in rows_of(topics[instance]))

    assert recorded == binlog.row_changes(sorted(work.joinpath(instance, "data").glob("binlog.[0-9]*")))
    assert min(Counter(operation for _, operation in recorded.elements()).values()) > 0


@pytest.mark.parametrize("instance", INSTANCES)
def test_offsets_follow_one_another_in_the_order_of_the_binlog(
    instance: str, topics: dict[str, list[dict[str, Any]]]
) -> None:
    records = topics[instance]

    assert [record["offset"] for record in records] == list(range(len(records)))
    assert {(record["topic"], record["partition"]) for record in records} == {(f"cdc.{instance}", 0)}
    places = [(row["source"]["file"], row["source"]["pos"], row["source"]["row"]) for row in rows_of(records)]
    assert all(earlier < later for earlier, later in pairwise(places))


@pytest.mark.parametrize("instance", INSTANCES)
def test_a_file_holds_the_events_of_its_day(instance: str, recording: Path) -> None:
    for path in replay.files(recording, instance):
        times = [at for at in map(event_time, replay.records([path])) if at is not None]

        assert {clock.wall(at).date() for at in times} == {date.fromisoformat(path.name.removesuffix(".jsonl.xz"))}
        assert times == sorted(times)


def test_events_carry_simulated_time_and_no_processing_time(topics: dict[str, list[dict[str, Any]]]) -> None:
    first = clock.midnight(SETTINGS.first_day)
    for value in (message["value"] for messages in topics.values() for message in messages if message["value"]):
        assert first <= value["source"]["ts_ms"] // 1000 < end_of(SETTINGS) + clock.HOUR
        assert value.get("ts_ms") is None


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_heartbeat_goes_on_in_every_minute(instance: str, topics: dict[str, list[dict[str, Any]]]) -> None:
    beats = [row["source"]["ts_ms"] // 1000 for row in rows_of(topics[instance]) if row["source"]["table"] == HEARTBEAT]

    assert all(later - earlier == clock.MINUTE for earlier, later in pairwise(beats))
    assert beats[0] - clock.midnight(SETTINGS.first_day) < 10
    assert beats[-1] > end_of(SETTINGS)


@pytest.mark.parametrize("table", ORDERS.physical)
def test_the_column_added_on_the_fourth_day_has_its_schema_change(
    table: str, topics: dict[str, list[dict[str, Any]]]
) -> None:
    values = [record["value"] for record in topics[instance_of(table)] if record["value"]]
    altered = [value for value in values if value.get("ddl", "").startswith(f"ALTER TABLE {table} ")]
    before = [row for row in values if row.get("op") == "c" and row["source"]["table"] == table]

    assert len(altered) == 1
    (change,) = altered[0]["tableChanges"]
    assert [column["name"] for column in change["table"]["columns"]][-1] == COUPON_COLUMN
    at = altered[0]["source"]["ts_ms"]
    assert all((COUPON_COLUMN in row["after"]) == (row["source"]["ts_ms"] >= at) for row in before)


def test_each_delete_is_followed_by_its_tombstone(topics: dict[str, list[dict[str, Any]]]) -> None:
    for records in topics.values():
        deletes = [i for i, record in enumerate(records) if record["value"] and record["value"].get("op") == "d"]
        tombstones = [i for i, record in enumerate(records) if record["value"] is None]

        assert [i + 1 for i in deletes] == tombstones
        assert all(records[i]["key"] == records[i + 1]["key"] for i in deletes)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_recording_leads_to_the_contents_that_the_oracle_saw(
    table: Any, recording: Path, oracle: dict[str, Any]
) -> None:
    (snapshot,) = [own for own in oracle["snapshots"] if own["table"] == table.name]
    tables = replay.state(recording, INSTANCES, end_of(SETTINGS))

    assert snapshot["rows"] == sum(len(tables[name]) for name in table.physical) > 0
    assert snapshot["checksum"] == str(replay.checksum(tables, table.physical, snapshot["columns"]))


def test_the_oracles_turnover_is_that_of_the_recorded_orders(recording: Path, oracle: dict[str, Any]) -> None:
    tables = replay.state(recording, INSTANCES, end_of(SETTINGS))
    day = clock.wall(clock.midnight(SETTINGS.first_day)).date()
    turnover: Counter[int] = Counter()
    for order in (row for name in ORDERS.physical for row in tables[name].values()):
        if order["status"] == "paid" and order["paid_at"] // 86_400_000 == (day - date(1970, 1, 1)).days:
            turnover[order["course_id"]] += int(Decimal(order["amount"]) * 100)

    (metric,) = [own for own in oracle["metrics"] if own["entity"] == "ads_gmv_course"]
    assert {row["course_id"]: int(Decimal(row["gmv"]) * 100) for row in metric["rows"]} == turnover
    assert len(turnover) > 5

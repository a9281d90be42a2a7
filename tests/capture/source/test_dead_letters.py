"""Poison goes to the dead-letter queue with where it came from and why; what is beside it is merged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.source.kafka.sent import SentIntake, SentValues, messages
from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.capture.source.kafka.intake import OffsetRange, scan_messages
from tidemark.delta.delta_rs_table import read_table
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def values_of(stream: Stream) -> list[str | None]:
    values = [json.loads(line)["value"] for line in stream.lines]
    return [None if entry is None else json.dumps(entry) for entry in values]


@pytest.fixture
def sent() -> SentValues:
    """An order that is changed to a value that is none, text that is no JSON, and an order after it."""
    a, b = Stream("a"), Stream("b")
    for stream, shard in ((a, "orders_0"), (b, "orders_1")):
        stream.declare(shard, ORDERS, at("2026-03-23 09:00"))
    good = order(1, "1.00", 23)
    a.change("orders_0", None, good, at("2026-03-23 10:00"))
    a.change("orders_0", good, {**good, "amount": "many"}, at("2026-03-23 10:01"))
    a.change("orders_0", None, order(2, "2.00", 23), at("2026-03-23 10:02"))
    values = values_of(a)
    return {"a": [*values[:3], "{", *values[3:]], "b": values_of(b)}


def test_unreadable_records_are_kept_once_and_the_rest_is_merged(
    spark: SparkSession, tmp_path: Path, sent: SentValues
) -> None:
    settings = Settings.at(tmp_path / "data")
    registry = SnapshotRegistry.at(settings.state_db)
    report = Ingestion(spark, settings, TABLES, registry, SentIntake(sent)).step()
    assert report.changes == {"ods_orders": 2}
    rows = read_table(spark, settings.warehouse / "ods_orders").collect()
    assert {row["order_id"]: str(row["amount"]) for row in rows} == {1: "1.00", 2: "2.00"}
    value, message = DeadLetters(settings.warehouse).all()
    assert (value.offset, value.physical, value.reason) == (
        2,
        "school.orders_0",
        "a value does not fit the type of its column",
    )
    assert '"amount":"many"' in (value.raw or "").replace("\\", "")
    assert (message.topic, message.offset, message.reason) == ("cdc.a", 3, "not a record of Debezium")
    assert len([text for text in report.warnings if "tidemark dlq list" in text]) == 2
    kept_once = "cdc.a offset 3: not a record of Debezium: kept in the dead-letter queue, see tidemark dlq list"
    assert kept_once in report.warnings
    again = [OffsetRange("a", 0, len(sent["a"]))]
    scan = scan_messages(messages(spark, sent, again), again, TABLES, ())
    try:
        assert DeadLetters(settings.warehouse).keep_messages(scan) == []
    finally:
        scan.close()
    assert DeadLetters(settings.warehouse).all() == [value, message]

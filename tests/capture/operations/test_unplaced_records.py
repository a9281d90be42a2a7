"""Canal's records, which say nothing of their place: inserts that are redelivered, and dates that are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.capture.source.kafka.sent import SentIntake, SentValues
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import Stream, at
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCE = SourceTable("ods_orders", "school.orders_*", ("a",), ("order_id",), "order_date", ())
TYPES = {"order_id": "bigint(20)", "order_date": "date", "paid": "datetime", "seen": "timestamp"}
TIMES = {"paid": "2026-03-23 11:00:00", "seen": "2026-03-23 11:00:00"}


def flat(kind: str, row: dict[str, str], old: dict[str, str] | None = None) -> str:
    message = {
        "type": kind,
        "database": "school",
        "table": "orders_0",
        "es": int(at("2026-03-23 11:00").timestamp()) * 1000,
        "isDdl": False,
        "mysqlType": TYPES,
        "pkNames": ["order_id"],
        "data": [{**TIMES, **row}],
        "old": None if old is None else [old],
    }
    return json.dumps(message)


class CanalWorld:
    """One instance that Canal captures; each step is a process of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.settings = spark, Settings.at(folder / "data")
        self.values: SentValues = {"a": []}

    def step(self, *values: str) -> list[tuple[object, ...]]:
        """Take in more messages; the rows then, with what the test changes in them."""
        self.values = {"a": [*self.values["a"], *values]}
        registry = SnapshotRegistry.at(self.settings.state_db)
        Ingestion(self.spark, self.settings, [SOURCE], registry, SentIntake(self.values, ("a",))).step()
        rows = read_rows(self.settings.warehouse / "ods_orders").to_pylist()
        return sorted((row["order_id"], str(row["order_date"]), str(row["paid"]), str(row["seen"])) for row in rows)


@pytest.mark.long
def test_an_insert_that_comes_again_meets_its_row_where_it_has_moved_to(spark: SparkSession, tmp_path: Path) -> None:
    world = CanalWorld(spark, tmp_path)
    insert = flat("INSERT", {"order_id": "1", "order_date": "2026-03-23"})
    move = flat("UPDATE", {"order_id": "1", "order_date": "2026-03-24"}, {"order_date": "2026-03-23"})
    assert [row[:2] for row in world.step(insert, move)] == [(1, "2026-03-24")]
    assert [row[:2] for row in world.step(insert)] == [(1, "2026-03-23")]
    assert [row[:2] for row in world.step(move)] == [(1, "2026-03-24")]


def test_debeziums_form_of_a_zero_timestamp_is_null(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("a")
    stream.declare("seen_0", {"id": "BIGINT", "seen": "TIMESTAMP"}, at("2026-03-23 09:00"))
    for number, text in enumerate(("1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z")):
        stream.change("seen_0", None, {"id": number, "seen": text}, at("2026-03-23 10:00"))
    settings = Settings.at(tmp_path / "data")
    source = SourceTable("ods_seen", "school.seen_*", ("a",), ("id",), None, ())
    registry = SnapshotRegistry.at(settings.state_db)
    Ingestion(spark, settings, [source], registry, SentIntake({"a": values_of(stream)})).step()
    rows = {row["id"]: row["seen"] for row in read_rows(settings.warehouse / "ods_seen").to_pylist()}
    assert rows[0] is None
    assert rows[1].timestamp() == 1


@pytest.mark.long
def test_a_statement_of_canals_is_carried_out_and_zero_dates_are_null(spark: SparkSession, tmp_path: Path) -> None:
    world = CanalWorld(spark, tmp_path)
    insert = flat("INSERT", {"order_id": "1", "order_date": "2026-03-23"})
    truncate = {
        "type": "TRUNCATE",
        "database": "school",
        "table": "orders_0",
        "es": int(at("2026-03-23 12:00").timestamp()) * 1000,
        "isDdl": True,
        "sql": "truncate table orders_0",
        "data": None,
    }
    zeros = {"order_date": "0000-00-00", "paid": "0000-00-00 00:00:00", "seen": "0000-00-00 00:00:00"}
    later = flat("INSERT", {"order_id": "2", **zeros})
    assert world.step(insert, json.dumps(truncate), later) == [(2, "None", "None", "None")]

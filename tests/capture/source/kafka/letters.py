"""A warehouse with a dead-letter queue: a Canal server took over a topic, and nobody said so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.source.kafka.sent import SentIntake, SentValues
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.operations.dead_letter_replay import DeadLetterReplay
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.delta.delta_rs_table import read_table
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.dead_letter_replay import Replayed

NOW = datetime(2026, 3, 25, tzinfo=UTC)
TYPES = {"order_id": "bigint(20)", "user_id": "bigint(20)", "amount": "decimal(10,2)", "order_date": "date"}


@dataclass
class LettersWorld:
    """A warehouse that reads `a` and `b` as Debezium's, whatever is in them."""

    spark: SparkSession
    settings: Settings
    values: SentValues

    def step(self) -> None:
        registry = SnapshotRegistry.at(self.settings.state_db)
        Ingestion(self.spark, self.settings, TABLES, registry, SentIntake(self.values)).step()

    def replay(self, *by_canal: str) -> tuple[Replayed, ...]:
        intake, database = SentIntake(self.values, by_canal), Database.of(self.settings)
        return DeadLetterReplay(self.spark, self.settings, TABLES, intake, database).run(NOW)

    def waiting(self) -> list[int]:
        return [slice_waiting.offset for slice_waiting in DeadLetters(self.settings.warehouse).waiting()]

    def orders(self) -> dict[int, str]:
        rows = read_table(self.spark, self.settings.warehouse / "ods_orders").collect()
        return {row["order_id"]: str(row["amount"]) for row in rows}


def flat(kind: str, order_id: int, amount: str, before: str | None = None) -> str:
    """A message of Canal's on orders_0."""
    row = {"order_id": str(order_id), "user_id": "1", "amount": amount, "order_date": "2026-03-23"}
    message = {
        "type": kind,
        "database": "school",
        "table": "orders_0",
        "es": int(at("2026-03-23 11:00").timestamp()) * 1000,
    }
    old = None if before is None else [{"amount": before}]
    return json.dumps({**message, "isDdl": False, "mysqlType": TYPES, "data": [row], "old": old})


def world_at(spark: SparkSession, folder: Path) -> LettersWorld:
    """Two orders of Debezium's, then a change of the first, a delete of the second, and a third one, of Canal's."""
    a, b = Stream("a"), Stream("b")
    for stream, shard in ((a, "orders_0"), (b, "orders_1")):
        stream.declare(shard, ORDERS, at("2026-03-23 09:00"))
    for number in (1, 2):
        a.change("orders_0", None, order(number, f"{number}.00", 23), at("2026-03-23 10:00"))
    canals = [flat("UPDATE", 1, "5.00", "1.00"), flat("DELETE", 2, "2.00"), flat("INSERT", 3, "3.00")]
    return LettersWorld(spark, Settings.at(folder / "data"), {"a": [*values_of(a), *canals], "b": values_of(b)})

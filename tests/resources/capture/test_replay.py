"""A dead letter that can be read now has the effect that it would have had, and no other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from resources.capture.dead_letters import DeadLetters
from resources.capture.ingestion import Ingestion
from resources.capture.kafka.bounds import Bounds
from resources.capture.replay import Replay
from resources.delta.table import current_version, read_table
from resources.settings import Settings
from resources.state_store.registry import SnapshotRegistry
from tests.resources.capture.kafka.sent import Known, Sent, Values
from tests.resources.capture.streams import ORDERS, Stream, at, order
from tests.resources.capture.test_bad_input import TABLES
from tests.resources.capture.test_dead_letters import values_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pyspark.sql import SparkSession

    from resources.capture.replay import Replayed

pytestmark = pytest.mark.spark

NOW = datetime(2026, 3, 25, tzinfo=UTC)
TYPES = {"order_id": "bigint(20)", "user_id": "bigint(20)", "amount": "decimal(10,2)", "order_date": "date"}


@dataclass
class World:
    """A warehouse that reads `a` and `b` as Debezium's, whatever is in them."""

    spark: SparkSession
    settings: Settings
    values: Values

    def step(self) -> None:
        registry = SnapshotRegistry.at(self.settings.state_db)
        Ingestion(self.spark, self.settings, TABLES, registry, Sent(self.values)).step()

    def replay(self, *by_canal: str) -> tuple[Replayed, ...]:
        return Replay(self.spark, self.settings, TABLES, Sent(self.values, by_canal)).run(NOW)

    def waiting(self) -> list[int]:
        return [one.offset for one in DeadLetters(self.settings.warehouse).waiting()]

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


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> World:
    """Two orders of Debezium's; then a Canal server took over, and nobody said so."""
    a, b = Stream("a"), Stream("b")
    for stream, shard in ((a, "orders_0"), (b, "orders_1")):
        stream.declare(shard, ORDERS, at("2026-03-23 09:00"))
    for number in (1, 2):
        a.change("orders_0", None, order(number, f"{number}.00", 23), at("2026-03-23 10:00"))
    canals = [flat("UPDATE", 1, "5.00", "1.00"), flat("DELETE", 2, "2.00"), flat("INSERT", 3, "3.00")]
    return World(spark, Settings.at(tmp_path / "data"), {"a": [*values_of(a), *canals], "b": values_of(b)})


def test_letters_have_their_effect_once_they_can_be_read(world: World) -> None:
    world.step()
    assert world.orders() == {1: "1.00", 2: "2.00"}
    assert [one.problem for one in world.replay()] == ["no source.ts_ms"] * 3
    assert world.waiting() == [3, 4, 5]
    assert [(one.letter.offset, one.problem) for one in world.replay("a")] == [(3, None), (4, None), (5, None)]
    assert world.orders() == {1: "5.00", 3: "3.00"}
    version = current_version(world.settings.warehouse / "ods_orders")
    assert (world.waiting(), world.replay("a")) == ([], ())
    world.step()
    assert current_version(world.settings.warehouse / "ods_orders") == version


@pytest.mark.long
def test_what_came_after_a_letter_stays(world: World) -> None:
    world.values["a"] = [*world.values["a"], flat("DELETE", 3, "3.00"), flat("UPDATE", 1, "6.00", "5.00")]
    world.step()
    letters = DeadLetters(world.settings.warehouse)
    # As if the last two had been read: then they are no letters.
    letters.note_replayed([one for one in letters.all() if one.offset > 5], NOW)
    assert {one.problem for one in world.replay("a")} == {None}
    assert world.orders() == {1: "6.00"}


def test_nothing_is_replayed_past_records_that_were_read_otherwise(world: World) -> None:
    """Debezium's delete of order 1 is behind the letters; as Canal's it cannot be read, so 1 might come back."""
    back = Stream("a")
    # Further in the binlog than what was read before.
    for minute in range(9):
        back.heartbeat(at(f"2026-03-23 11:5{minute}"))
    deleted = back.change("orders_0", order(1, "1.00", 23), None, at("2026-03-23 12:00"))
    world.values["a"] = [*world.values["a"], values_of(back)[deleted]]
    world.step()
    assert world.orders() == {2: "2.00"}
    assert {"1 that are none, the first at offset 6" in (one.problem or "") for one in world.replay("a")} == {True}
    assert (world.orders(), world.waiting()) == ({2: "2.00"}, [3, 4, 5])


class Emptied(Sent):
    """Retention dropped the records before offset 4."""

    def __init__(self, values: Values, by_canal: Collection[str]) -> None:
        super().__init__(values, by_canal)
        self._broker = Known({name: Bounds(4, len(sent)) for name, sent in values.items()})

    def scan(self, *_: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing is to be read")


def test_letters_that_kafka_dropped_stay(world: World) -> None:
    world.step()
    found = Replay(world.spark, world.settings, TABLES, Emptied(world.values, {"a"})).run(NOW)
    assert {"dropped 1 records" in (one.problem or "") for one in found} == {True}
    assert world.waiting() == [3, 4, 5]

"""A reload is the way out of a hold: the table is the source's again, its history stays, others go on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.source.kafka.sent import SentIntake
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, USERS, Stream, at, order
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.initial_load.key_range import KeyRange
from tidemark.capture.initial_load.reload_requests import ReloadRequest, ReloadRequests
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.errors import OffsetsLostError, TopicReplacedError
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

USERS_TABLE = TABLES[1]
ORDERS_TABLE = replace(TABLES[0], instances=("a",))
PRINTED = {"order_id": "bigint(20)", "user_id": "bigint(20)", "amount": "decimal(10,2)", "order_date": "date"}
USER_COLUMNS = {"user_id": "bigint(20)", "name": "varchar(64)"}


class ReloadWorld:
    """One instance's topic, and a capture of it; every step is a process of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.settings, self.topic = spark, Settings.at(folder / "data"), Stream("a")
        self.registry = SnapshotRegistry.at(self.settings.state_db)
        self.topic.declare("users", USERS, at("2026-03-23 09:00"))
        self.topic.change("users", None, {"user_id": 1, "name": "n"}, at("2026-03-23 09:00"))

    def step(self, low: int = 0, topic_id: str = "") -> IngestReport:
        intake = SentIntake({"a": values_of(self.topic)}, low=low, topic_id=topic_id)
        return Ingestion(self.spark, self.settings, [ORDERS_TABLE, USERS_TABLE], self.registry, intake).step()

    def ask(self, table: str, *shards: str, gone: tuple[str, ...] = (), **more: object) -> None:
        columns = {shard: USER_COLUMNS if shard.endswith("users") else PRINTED for shard in shards}
        request = ReloadRequest("r1", table, "me", "now", shards, {"a": len(self.topic.lines)}, gone, columns=columns)
        ReloadRequests(Database.of(self.settings)).add(replace(request, **more))  # type: ignore[arg-type]

    def state(self, table: str) -> CommitState:
        commit = last_commit(self.settings.warehouse / table)
        assert commit is not None
        return commit.state

    def orders(self, version: int | None = None) -> dict[int, str]:
        rows = read_rows(self.settings.warehouse / "ods_orders", version).to_pylist()
        return {row["order_id"]: str(row["amount"]) for row in rows}


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> ReloadWorld:
    made = ReloadWorld(spark, tmp_path)
    made.topic.declare("orders_0", ORDERS, at("2026-03-23 09:00"))
    for number in (1, 2):
        made.topic.change("orders_0", None, order(number, "1.00", 23), at("2026-03-23 10:00"))
    return made


@pytest.mark.long
def test_a_table_with_lost_changes_is_reloaded_and_keeps_its_snapshots(world: ReloadWorld) -> None:
    world.topic.heartbeat(at("2026-03-24 00:00"))
    (tag,) = [tag for tag in world.step().closed if tag.entity == "ods_orders"]
    for number in (3, 4):
        world.topic.change("orders_0", None, order(number, "1.00", 24), at("2026-03-24 10:00"))
    low = len(world.topic.lines)
    world.topic.change("orders_0", None, order(5, "5.00", 24), at("2026-03-24 11:00"))
    with pytest.raises(OffsetsLostError, match="tidemark capture reload"):
        world.step(low=low)
    world.ask("ods_orders", "a.school.orders_0")
    world.ask("ods_users", "a.school.users")
    world.step(low=low)
    assert (world.orders(), world.state("ods_orders").initial_load_pending) == ({}, ("a.school.orders_0",))
    for number in (1, 4, 5):
        world.topic.read("orders_0", order(number, "9.00", 24), at("2026-03-24 12:00"))
    world.topic.heartbeat(at("2026-03-25 00:00"))
    assert not [tag for tag in world.step(low=low).closed if tag.entity == "ods_orders"]
    world.topic.loaded("orders_0")
    world.topic.change("orders_0", None, order(6, "6.00", 24), at("2026-03-25 01:00"))
    world.topic.heartbeat(at("2026-03-26 00:00"))
    named = [tag.slice for tag in world.step(low=low).closed if tag.entity == "ods_orders"]
    assert (named, world.orders()) == (["2026-03-25"], {1: "9.00", 4: "9.00", 5: "9.00", 6: "6.00"})
    assert world.orders(tag.version) == {1: "1.00", 2: "1.00"}
    # Asked for once, it is done once.
    assert world.step(low=low).commits == 0


@pytest.mark.long
def test_a_reload_begins_with_the_recreated_topic(world: ReloadWorld) -> None:
    world.step(topic_id="old")
    world.topic = Stream("a")
    for number in range(20):
        world.topic.heartbeat(at(f"2026-03-23 10:{number:02}"))
    with pytest.raises(TopicReplacedError):
        world.step(topic_id="new")
    for table, shard in (("ods_orders", "a.school.orders_0"), ("ods_users", "a.school.users")):
        world.ask(table, shard, topic_ids={"a": "new"})
    world.topic.read("orders_0", order(7, "7.00", 23), at("2026-03-23 12:00"))
    world.topic.loaded("orders_0")
    world.step(topic_id="new")
    assert world.orders() == {7: "7.00"}
    assert world.state("ods_orders").initial_load_pending == ()


@pytest.mark.long
def test_a_type_that_became_another_one_is_the_tables_after_a_reload(world: ReloadWorld) -> None:
    world.step()
    world.topic.declare("orders_0", {**ORDERS, "amount": "VARCHAR"}, at("2026-03-23 11:00"))
    world.topic.change("orders_0", None, order(3, "three", 23), at("2026-03-23 11:00"))
    with pytest.raises(ColumnTypeError):
        world.step()
    printed = {"a.school.orders_0": {**PRINTED, "amount": "varchar(64)"}}
    world.ask("ods_orders", "a.school.orders_0", columns=printed)
    world.topic.read("orders_0", order(3, "three", 23), at("2026-03-23 12:00"))
    world.topic.loaded("orders_0")
    world.step()
    assert world.orders() == {3: "three"}


@pytest.mark.long
def test_a_dropped_shards_rows_go_and_its_table_goes_on(world: ReloadWorld) -> None:
    world.topic.declare("orders_1", ORDERS, at("2026-03-23 09:00"))
    world.topic.change("orders_1", None, order(8, "8.00", 23), at("2026-03-23 10:00"))
    world.step()
    world.topic.drop("orders_1", at("2026-03-23 11:00"))
    world.topic.change("orders_0", None, order(3, "3.00", 23), at("2026-03-23 11:00"))
    assert world.step().halted
    assert world.orders() == {1: "1.00", 2: "1.00", 8: "8.00"}
    world.ask("ods_orders", gone=("a.school.orders_1",), is_whole=False)
    assert not world.step().halted
    assert world.orders() == {1: "1.00", 2: "1.00", 3: "3.00"}


def test_a_table_of_which_nothing_is_left_in_the_topic_begins_with_its_load(
    spark: SparkSession, tmp_path: Path
) -> None:
    world = ReloadWorld(spark, tmp_path)
    world.step()
    world.ask("ods_orders", "a.school.orders_0", "a.school.orders_1")
    for shard, number in (("orders_0", 1), ("orders_1", 2)):
        world.topic.read(shard, order(number, "1.00", 23), at("2026-03-23 12:00"))
        world.topic.loaded(shard)
    world.step(low=1)
    assert world.orders() == {1: "1.00", 2: "1.00"}


@pytest.mark.long
def test_a_range_of_keys_is_the_sources_again_and_other_rows_stay(world: ReloadWorld) -> None:
    for number in (3, 4, 5):
        world.topic.change("orders_0", None, order(number, "1.00", 23), at("2026-03-23 10:30"))
    world.step()
    # In the source order 3 is gone and order 4 is another one, and no record ever told of it.
    world.ask("ods_orders", "a.school.orders_0", is_whole=False, keys=KeyRange("order_id", 3, 4), columns={})
    world.topic.ask("orders_0", at("2026-03-23 11:00"), in_part=True)
    world.topic.change("orders_0", order(5, "1.00", 23), order(5, "5.00", 23), at("2026-03-23 11:00"))
    world.step()
    assert world.orders() == {1: "1.00", 2: "1.00", 5: "5.00"}
    world.topic.heartbeat(at("2026-03-24 00:00"))
    assert not [tag for tag in world.step().closed if tag.entity == "ods_orders"]
    world.topic.read("orders_0", order(4, "4.00", 23), at("2026-03-24 00:01"))
    world.topic.loaded("orders_0")
    world.topic.heartbeat(at("2026-03-25 00:00"))
    named = [tag.slice for tag in world.step().closed if tag.entity == "ods_orders"]
    assert (named, world.orders()) == (["2026-03-24"], {1: "1.00", 2: "1.00", 4: "4.00", 5: "5.00"})


@pytest.mark.long
def test_a_range_ends_no_hold_as_the_other_rows_are_as_they_were(world: ReloadWorld) -> None:
    world.topic.execute("RENAME TABLE orders_0 TO orders_old, orders_new TO orders_0", at("2026-03-23 10:30"))
    assert world.step().halted
    world.ask("ods_orders", "a.school.orders_0", is_whole=False, keys=KeyRange("order_id", 1, 1), columns={})
    world.topic.ask("orders_0", at("2026-03-23 11:00"), in_part=True)
    world.topic.read("orders_0", order(1, "1.00", 23), at("2026-03-23 11:01"))
    world.topic.loaded("orders_0")
    assert world.step().halted
    assert world.state("ods_orders").initial_load_pending == ()

"""Each table has a separate offset: a table that cannot read, or must read again, does not affect the others."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.source.kafka.sent import SentIntake, SentValues
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, USERS, Stream, at, order
from tidemark.capture.initial_load.errors import NobodyToAskError
from tidemark.capture.operations import ingestion, reload_order
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.planning.read_groups import read_groups
from tidemark.capture.source.kafka.errors import OffsetsLostError, TopicReplacedError
from tidemark.capture.source.kafka.intake import OffsetRange
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.source.intake import Due
    from tidemark.capture.source.scan import Scan
    from tidemark.capture.source_table import SourceTable

pytestmark = pytest.mark.spark


class Listed(SentIntake):
    """An intake that keeps what was read."""

    def __init__(self, values: SentValues, records: int) -> None:
        super().__init__(values, records=records)
        self.ranges: list[tuple[int, int]] = []

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        self.ranges += [(unit.first_offset, unit.end) for unit in due.units if isinstance(unit, OffsetRange)]
        return super().scan(spark, due, tables, reached)


def sent(users: int) -> SentValues:
    """Instance `a` with so many users and an order after every tenth."""
    a, b = Stream("a"), Stream("b")
    a.declare("users", USERS, at("2026-03-23 09:00"))
    a.declare("orders_0", ORDERS, at("2026-03-23 09:00"))
    for number in range(1, users + 1):
        a.change("users", None, {"user_id": number, "name": "n"}, at("2026-03-23 10:00"))
        if number % 10 == 0:
            a.change("orders_0", None, order(number, "1.00", 23), at("2026-03-23 10:00"))
    b.heartbeat(at("2026-03-23 10:00"))
    return {"a": values_of(a), "b": values_of(b)}


def capture(
    spark: SparkSession, folder: Path, tables: Sequence[SourceTable], intake: SentIntake, databases: str = ""
) -> Ingestion:
    settings = Settings.at(folder, databases=databases)
    return Ingestion(spark, settings, tables, SnapshotRegistry.at(settings.state_db), intake)


def rows(folder: Path, table: str, key: str) -> list[int]:
    return sorted(read_rows(folder / "warehouse" / table, columns=[key])[key].to_pylist())


@pytest.mark.long
def test_a_recreated_longer_topic_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    capture(spark, tmp_path, TABLES, SentIntake(sent(3), topic_id="old")).step()
    with pytest.raises(TopicReplacedError, match=r"cdc\.a was created again.*capture reload"):
        capture(spark, tmp_path, TABLES, SentIntake(sent(9), topic_id="new")).step()
    assert rows(tmp_path, "ods_users", "user_id") == [1, 2, 3]
    capture(spark, tmp_path, TABLES, SentIntake(sent(9), topic_id="old")).step()
    assert rows(tmp_path, "ods_users", "user_id") == list(range(1, 10))


def test_a_table_that_is_added_after_retention_has_passed_is_said_and_stops_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    orders, users = TABLES
    capture(spark, tmp_path, [users], SentIntake(sent(3))).step()
    with pytest.raises(OffsetsLostError, match="capture reload"):
        capture(spark, tmp_path, [orders, users], SentIntake(sent(9), low=3)).step()
    assert rows(tmp_path, "ods_users", "user_id") == list(range(1, 10))
    assert not (tmp_path / "warehouse" / "ods_orders").exists()


@pytest.mark.long
def test_an_added_table_reads_the_topic_separately_from_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "read_groups", functools.partial(read_groups, width=10))
    orders, users = TABLES
    capture(spark, tmp_path, [users], SentIntake(sent(60))).step()
    values = sent(100)
    start = len(sent(60)["a"])
    intake = Listed(values, records=30)
    capture(spark, tmp_path, [orders, users], intake).step()
    assert rows(tmp_path, "ods_users", "user_id") == list(range(1, 101))
    assert rows(tmp_path, "ods_orders", "order_id") == list(range(10, 101, 10))
    level = [span for span in intake.ranges if span[0] >= start]
    # What is new is read once for the table that is level, in passes as big as ever, and the first pass is its own.
    assert intake.ranges[0] == level[0] == (start, start + 30)
    lagging = [span for span in intake.ranges if span[0] < start]
    assert lagging
    # While the other had records, a tenth of a pass.
    assert lagging[0][1] - lagging[0][0] <= 3


@pytest.mark.long
def test_a_table_that_is_declared_to_start_at_an_offset_needs_nothing_before_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {"school.users": {"user_id": "bigint(20)", "name": "varchar(64)"}}
    monkeypatch.setattr(reload_order, "source_columns", lambda *_: printed)
    _, users = TABLES
    start = len(sent(2)["a"])
    started = replace(users, first_offsets={"a": start})
    intake = SentIntake(sent(5), low=start)
    capture(spark, tmp_path, [started], intake, databases="a=mysql://me:word@127.0.0.1:3306/school").step()
    assert rows(tmp_path, "ods_users", "user_id") == [3, 4, 5]
    # Once something is captured the start is no matter any more.
    capture(spark, tmp_path, [replace(users, first_offsets={"a": 0})], SentIntake(sent(7))).step()
    assert rows(tmp_path, "ods_users", "user_id") == [3, 4, 5, 6, 7]


@pytest.mark.long
def test_a_table_that_starts_now_needs_the_address_of_its_source(spark: SparkSession, tmp_path: Path) -> None:
    orders, users = TABLES
    with pytest.raises(NobodyToAskError, match="an address of a in TIDEMARK_DATABASES"):
        capture(spark, tmp_path, [orders, replace(users, is_loaded_first=True)], SentIntake(sent(20))).step()
    assert rows(tmp_path, "ods_orders", "order_id") == [10, 20]
    assert not (tmp_path / "warehouse" / "ods_users").exists()
    # What is there already goes on, whatever is declared.
    capture(spark, tmp_path, TABLES, SentIntake(sent(20))).step()
    capture(spark, tmp_path, [orders, replace(users, is_loaded_first=True)], SentIntake(sent(21))).step()
    assert rows(tmp_path, "ods_users", "user_id") == list(range(1, 22))

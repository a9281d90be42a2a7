"""One record never stops a pass, whatever is in it: it is a dead letter or stops its own table, and others go on."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.schema.hostile import INJECTION, TEXTS, hostile_changes, mutate, put
from tests.capture.schema.type_matrix import EXAMPLES
from tests.capture.source.kafka.letters import flat
from tests.capture.source.kafka.sent import SentIntake, SentValues
from tests.capture.source.test_dead_letters import values_of
from tests.capture.streams import ORDERS, USERS, Stream, at, order
from tests.lake_folder import lake_folder
from tests.seeds import chunks
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.errors import ColumnTypeError, DeclarationError, FileTooBigError, UnexpectedTableError
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_table
from tidemark.errors import TidemarkError
from tidemark.spark.internals import Jvm
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

USER_IDS = set(range(20))
# Where the record is in its binlog is left out: a wrong place halts the instance, which other tests are about.
PLACE = frozenset({"file", "pos", "gtid", "snapshot"})
TYPES = (
    "BIGINT UNSIGNED",
    "TINYINT",
    "DATETIME(3)",
    "DATETIME(6)",
    "TIMESTAMP",
    "TIME(3)",
    "DOUBLE",
    "BIT(1)",
    "VARBINARY(16)",
)
WIDE_ORDERS = {**ORDERS, **{f"c{at}": kind for at, kind in enumerate(TYPES)}}


def step(
    spark: SparkSession,
    folder: Path,
    values: SentValues,
    by_canal: Sequence[str] = (),
    tables: Sequence[SourceTable] = TABLES,
) -> tuple[list[TidemarkError], dict[str, int]]:
    """What a step raised, and the number of rows of each table afterwards."""
    settings = Settings.at(folder / "data")
    errors: list[TidemarkError] = []
    try:
        Ingestion(spark, settings, tables, SnapshotRegistry.at(settings.state_db), SentIntake(values, by_canal)).step()
    except TidemarkError as error:
        errors.append(error)
    there = [table.name for table in tables if lake_folder(settings.warehouse / table.name).exists()]
    return errors, {name: read_table(spark, settings.warehouse / name).count() for name in there}


def before_and_after(spark: SparkSession, folder: Path, hostile: Sequence[str], canal: Sequence[str]) -> None:
    """Hostile records among good ones of two tables: the good ones are published, and nothing unforeseen is raised."""
    a = Stream("a")
    a.declare("orders_0", WIDE_ORDERS, at("2026-03-23 09:00"))
    a.declare("users", USERS, at("2026-03-23 09:00"))
    for number in USER_IDS:
        a.change("users", None, {"user_id": number, "name": "n"}, at("2026-03-23 10:00"))
        a.change("orders_0", None, order(1_000_000 + number, "1.00", 23), at("2026-03-23 10:00"))
    good = values_of(a)
    sent: list[str | None] = [*good[:3], *hostile, *good[3:]]
    values: SentValues = {"a": sent, "b": [flat("INSERT", 1, "1.00"), *canal, flat("INSERT", 2, "2.00")]}
    errors, rows = step(spark, folder, values, ["b"])
    assert not errors
    assert rows["ods_users"] >= len(USER_IDS)
    settings = Settings.at(folder / "data")
    orders = {row["order_id"] for row in read_table(spark, settings.warehouse / "ods_orders").collect()}
    assert orders >= {1, 2, *(1_000_000 + number for number in USER_IDS)}
    assert len(DeadLetters(settings.warehouse).all()) > (len(hostile) + len(canal)) // 10


def value_of(before: dict[str, Any] | None) -> dict[str, Any]:
    """A change of an order as Debezium sends it, without its place in a binlog."""
    stream = Stream("a")
    more = {f"c{number}": EXAMPLES[kind][0] for number, kind in enumerate(TYPES)}
    stream.change("orders_0", before, {**order(7, "2.00", 23), **more}, at("2026-03-23 10:30"))
    value: dict[str, Any] = json.loads(stream.lines[0])["value"]
    return {**value, "source": {**value["source"], **dict.fromkeys(PLACE)}}


def hostile_value(chance: Random) -> str:
    """A change with something wrong somewhere."""
    return json.dumps(mutate(value_of(order(7, "1.00", 23)), chance, PLACE))


def hostile_message(chance: Random) -> str:
    """One of Canal's. What declares its columns is left alone: that stops the table."""
    return json.dumps(mutate(json.loads(flat("UPDATE", 7, "1.00", "2.00")), chance, frozenset({"mysqlType"})))


def anything(seed: int, count: int) -> tuple[list[str], list[str]]:
    """So many values, and so many messages of Canal's."""
    chance = Random(seed)
    return [hostile_value(chance) for _ in range(count)], [hostile_message(chance) for _ in range(count)]


@pytest.mark.long
@pytest.mark.parametrize("seed", chunks(2, 1, 2))
def test_every_field_with_anything_in_it_twenty_thousand_times(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    before_and_after(spark, tmp_path, *anything(seed=seed, count=5_000))


def with_change(path: tuple[Any, ...], new: Any) -> str:
    return json.dumps(put(value_of(None), path, new))


DEEP = 5_000
ONE_RECORD = [
    with_change(("after", "amount"), "1e-1000000000"),
    with_change(("after", "amount"), "1e1000000000"),
    with_change(("after", "amount"), "9" * 950_000),
    with_change(("after", "amount"), 10**4000),
    with_change(("after", "order_id"), None),
    with_change(("after", "order_id"), 1e300),
    with_change(("after", "order_date"), 2**31 - 1),
    with_change(("after", "c0"), "@").replace('"@"', "1e-1000000000"),
    with_change(("after", "c0"), "@").replace('"@"', "1e1000000000"),
    *(with_change(("after", f"c{at}"), sign * (2**63 - 1)) for at in (2, 3, 5) for sign in (-1, 1)),
    with_change(("after", "c4"), "+294247-01-10T04:00:54Z"),
    *(
        json.dumps({"aggregate_type": "x", "type": "TABLE_SCAN_COMPLETED", "additional_data": data})
        for data in (
            {"status": "SQL_EXCEPTION"},
            {"status": "SUCCEEDED"},
            {"status": "SQL_EXCEPTION", "scanned_collection": ""},
            {"status": "a b c", "scanned_collection": " "},
            {"status": "", "scanned_collection": "school.orders_0"},
        )
    ),
    with_change(("source", "ts_ms"), 2**63 - 1),
    with_change(("source", "ts_ms"), -(2**63)),
    with_change(("source", "ts_ms"), 7_258_118_400_000),
    with_change(("after",), "[") + "x",
    with_change(("after", "amount"), "@").replace('"@"', "[" * DEEP + "]" * DEEP),
    with_change(("source",), "@").replace('"@"', '{"a":' * DEEP + "1" + "}" * DEEP),
]
ONE_MESSAGE = [
    flat("INSERT", 7, "1e-1000000000"),
    flat("INSERT", 7, "9" * 950_000),
    json.dumps({**json.loads(flat("INSERT", 7, "1.00")), "es": 2**63 - 1}),
    json.dumps({**json.loads(flat("INSERT", 7, "1.00")), "es": -(2**63)}),
    flat("UPDATE", 7, "1.00", "2.00").replace('"old": [{"amount"', '"old": [{"amount": "5", "amount"'),
    flat("INSERT", 7, "1.00").replace('"data": [{"order_id"', '"data": [{"order_id": "5", "order_id"'),
]


def test_each_that_stopped_a_pass_once_is_a_dead_letter(spark: SparkSession, tmp_path: Path) -> None:
    before_and_after(spark, tmp_path, ONE_RECORD, ONE_MESSAGE)
    letters = DeadLetters(Settings.at(tmp_path / "data").warehouse).all()
    assert [letter.topic for letter in letters].count("cdc.a") == len(ONE_RECORD)


def test_a_hostile_declaration_stops_its_own_table_alone(spark: SparkSession, tmp_path: Path) -> None:
    a, b = Stream("a"), Stream("b")
    a.declare("users", USERS, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 1, "name": "n"}, at("2026-03-23 10:00"))
    a.declare("orders_0", ORDERS, at("2026-03-23 09:00"))
    a.change("orders_0", None, order(1, "1.00", 23), at("2026-03-23 10:00"))
    hostile = json.loads(a.lines[2])["value"]
    hostile["tableChanges"][0]["table"]["columns"][2]["length"] = INJECTION
    values: SentValues = {"a": [*values_of(a)[:2], json.dumps(hostile), *values_of(a)[3:]], "b": values_of(b)}
    errors, rows = step(spark, tmp_path, values)
    assert [type(error) for error in errors] == [ColumnTypeError]
    assert "school.orders_0" in str(errors[0])
    assert rows == {"ods_users": 1}
    assert Jvm(spark)("java.lang.System").getProperty("owned") is None


def many_tables(count: int) -> list[SourceTable]:
    return [SourceTable(f"ods_t{number}", f"school.t{number}", ("a",), ("id",), None, ()) for number in range(count)]


@pytest.mark.long
def test_tables_whose_declarations_are_anything_at_all(spark: SparkSession, tmp_path: Path) -> None:
    """Each stops at most itself; those of tables that nobody captures go to the dead-letter queue."""
    chance = Random(3)
    a = Stream("a")
    a.declare("users", USERS, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 1, "name": "n"}, at("2026-03-23 10:00"))
    good = values_of(a)
    source = json.loads(a.lines[0])["value"]
    sent: list[str | None] = [good[0]]
    for number in range(12):
        changes = hostile_changes(chance, f"t{number}")
        value = put(source, ("source", "table"), f"t{number}")
        sent.append(json.dumps({**value, "tableChanges": changes}))
        sent.append(with_change(("source", "table"), f"t{number}"))
    unrouted = [json.dumps({**put(source, ("source", "table"), "x"), "tableChanges": text}) for text in TEXTS[1:]]
    errors, rows = step(spark, tmp_path, {"a": [*sent, *unrouted, good[1]], "b": []}, (), [*TABLES, *many_tables(12)])
    assert len(errors) == 1
    assert not isinstance(errors[0], UnexpectedTableError)
    assert rows["ods_users"] == 1
    letters = DeadLetters(Settings.at(tmp_path / "data").warehouse).all()
    assert [letter.offset for letter in letters] == list(range(len(sent), len(sent) + len(unrouted)))
    assert all(letter.reason.startswith("an unreadable schema change") for letter in letters)


NAMES = ["_shard", "_offset", "event_ms", "first name", "a.b", "${env:HOME}", "_corrupt", "_row", "row", "g`x"]


@pytest.mark.long
def test_columns_of_any_name_are_captured(spark: SparkSession, tmp_path: Path) -> None:
    a = Stream("a")
    kinds = {"user_id": "BIGINT", "NOTE": "VARCHAR", **dict.fromkeys(NAMES, "VARCHAR")}
    row = {"user_id": 1, "NOTE": "old", **{name: f"v{at}" for at, name in enumerate(NAMES)}}
    a.declare("users", kinds, at("2026-03-23 09:00"))
    a.change("users", None, row, at("2026-03-23 10:00"))
    del kinds["NOTE"], row["NOTE"]
    a.declare("users", {**kinds, "note": "VARCHAR"}, at("2026-03-23 11:00"))
    a.change("users", None, {**row, "user_id": 2, "note": "new"}, at("2026-03-23 11:00"))
    errors, rows = step(spark, tmp_path, {"a": values_of(a), "b": []})
    assert (errors, rows["ods_users"]) == ([], 2)
    users = read_table(spark, Settings.at(tmp_path / "data").warehouse / "ods_users").orderBy("user_id").collect()
    lake = ["source_shard", "source_offset", "event_ms", "first_name", "a_b"]
    assert [[row[name] for name in lake] for row in users] == [["v0", "v1", "v2", "v3", "v4"]] * 2
    assert [row["NOTE"] for row in users] == ["old", "new"]
    assert [row["source_row"] for row in users] == ["v7", "v7"]


@pytest.mark.long
def test_names_that_are_one_column_to_spark_stop_the_table_alone(spark: SparkSession, tmp_path: Path) -> None:
    a = Stream("a")
    a.declare("users", {**USERS, "NOTE": "VARCHAR", "note": "VARCHAR"}, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 1}, at("2026-03-23 10:00"))
    a.declare("orders_0", {**ORDERS, "big": "DECIMAL(38,30)"}, at("2026-03-23 09:00"))
    a.change("orders_0", None, {**order(1, "1.00", 23), "big": "1." + "5" * 30}, at("2026-03-23 10:00"))
    errors, rows = step(spark, tmp_path, {"a": values_of(a), "b": []})
    assert [type(error) for error in errors] == [DeclarationError]
    assert rows == {"ods_orders": 1}


@pytest.mark.long
def test_a_decimal_beyond_the_lakes_is_left_out_alone(spark: SparkSession, tmp_path: Path) -> None:
    a = Stream("a")
    a.declare("users", {**USERS, "big": "DECIMAL(65,30)"}, at("2026-03-23 09:00"))
    a.declare("orders_0", ORDERS, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 1, "big": "AQ=="}, at("2026-03-23 10:00"))
    a.change("orders_0", None, order(1, "1.00", 23), at("2026-03-23 10:00"))
    assert step(spark, tmp_path, {"a": values_of(a), "b": []}) == ([], {"ods_orders": 1, "ods_users": 1})
    users = Settings.at(tmp_path / "data").warehouse / "ods_users"
    assert "big" not in read_table(spark, users).columns
    last = last_commit(users)
    assert last is not None
    assert last.state.columns.quarantined == {"big": "big DECIMAL(65,30)"}


@pytest.mark.long
@pytest.mark.parametrize("line", [b"", b"\n"])
def test_a_file_that_expands_to_a_bomb_is_named_and_others_go_on(
    spark: SparkSession, tmp_path: Path, line: bytes
) -> None:
    """One line of two gigabytes, and two gigabytes of lines."""
    from tests.capture.source.test_expanded_size import bomb

    settings = Settings.at(tmp_path / "data")
    bomb(settings.landing / "a" / "000000000000.jsonl.gz", 2_100_000_000, line=line)
    b = Stream("b")
    b.declare("orders_1", ORDERS, at("2026-03-23 09:00"))
    b.change("orders_1", None, order(2, "2.00", 23), at("2026-03-23 10:00"))
    b.land(settings.landing, 0)
    ingestion = Ingestion(spark, settings, TABLES, SnapshotRegistry.at(settings.state_db))
    for _ in range(2):
        with pytest.raises(FileTooBigError, match=r"a/000000000000\.jsonl\.gz"):
            ingestion.step()
    assert read_table(spark, settings.warehouse / "ods_orders").count() == 1


@pytest.mark.long
def test_a_column_without_a_type_and_an_excluded_one_stop_nothing(spark: SparkSession, tmp_path: Path) -> None:
    a = Stream("a")
    kinds = {**USERS, "NOTE": "VARCHAR", "note": "VARCHAR", "place": "GEOMETRY"}
    a.declare("users", kinds, at("2026-03-23 09:00"))
    place = {"wkb": "AQEAAAA=", "srid": None}
    a.change("users", None, {"user_id": 1, "NOTE": "x", "note": "kept", "place": place}, at("2026-03-23 10:00"))
    orders, users = TABLES
    tables = [orders, replace(users, excluded=frozenset({"NOTE".lower()}))]
    errors, rows = step(spark, tmp_path, {"a": values_of(a), "b": []}, tables=tables)
    assert (errors, rows) == ([], {"ods_users": 1})
    warehouse = Settings.at(tmp_path / "data").warehouse
    (row,) = read_table(spark, warehouse / "ods_users").collect()
    assert {"note", "NOTE", "place"} & set(row.asDict()) == set()
    last = last_commit(warehouse / "ods_users")
    assert last is not None
    assert last.state.columns.quarantined == {"place": "place GEOMETRY"}

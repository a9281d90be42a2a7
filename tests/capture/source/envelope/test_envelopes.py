"""The same workload in both envelopes is the same changes: those that were made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.source.envelope.workload import COLUMNS, Change, canal, debezium, workload
from tests.capture.source.kafka.sent import messages
from tests.examples import each
from tidemark.capture.apply.table_changes_by_batch import table_changes
from tidemark.capture.planning.commit_planner import PlannedBatch, Span
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.schema_changes import evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source.envelope.change_record import route
from tidemark.capture.source.kafka.intake import OffsetRange, scan_messages
from tidemark.capture.source_table import SourceTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from tidemark.capture.source.scan import Scan

pytestmark = pytest.mark.spark

ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("id",), "day", ())
CHANGES = workload(seed=11, count=300)


def scan_of(spark: SparkSession, **values: Sequence[str | None]) -> Scan:
    """What Debezium sent of `a` and Canal of `b`."""
    ranges = [OffsetRange(name, 0, len(sent)) for name, sent in values.items()]
    return scan_messages(messages(spark, values, ranges), ranges, [ORDERS], {"b"})


@pytest.fixture(scope="module")
def scan(spark: SparkSession) -> Iterator[Scan]:
    scanned = scan_of(spark, a=debezium(CHANGES), b=canal(CHANGES))
    yield scanned
    scanned.close()


def declared(scan: Scan, instance: str) -> TableColumns:
    return evolve(TableColumns(), (change for change in scan.summary.schema_changes if change.instance == instance), {})


def expected(change: Change, instance: str) -> tuple[Any, ...]:
    image = change.after or change.before or {}
    partitions = (None if change.before is None else change.before["day"], image["day"])
    shard = f"{instance}.school.{change.table}"
    return (change.op, shard, change.event_ms, *map(_text, partitions), *(image[name] for name in COLUMNS))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@pytest.mark.parametrize("instance", each(2, ["a", "b"]))
def test_changes_are_those_that_were_made(spark: SparkSession, scan: Scan, instance: str) -> None:
    columns = declared(scan, instance)
    span = {name: Span(0, scan.ends[name] if name == instance else 0) for name in ("a", "b")}
    changes = table_changes(spark, scan, BinlogOrder(), ORDERS, columns, [PlannedBatch(span, {}, (), None)])
    assert changes.where("_bad OR _late").count() == 0
    scanned = changes.orderBy("_offset", "row").selectExpr(
        "_op", "_shard", "_event_ms", "_partition_before", "_partition_after", *COLUMNS
    )
    assert [_plain(row) for row in scanned.collect()] == [expected(change, instance) for change in CHANGES]


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    values: list[Any] = [bytes(value) if isinstance(value, bytearray) else value for value in row]
    stamp = 5 + list(COLUMNS).index("stamp")
    # Spark hands an instant over in the process's zone, without saying so.
    values[stamp] = values[stamp].astimezone(CHANGES[0].after["stamp"].tzinfo if CHANGES[0].after else None)
    return tuple(values)


@pytest.mark.long
def test_a_row_that_gets_another_key_is_deleted_and_inserted(spark: SparkSession) -> None:
    moved = {
        "type": "UPDATE",
        "database": "school",
        "table": "orders_1",
        "es": 5,
        "isDdl": False,
        "pkNames": ["id"],
        "mysqlType": {"id": "bigint(20)", "kind": "enum('x','y')"},
        "data": [{"id": "1", "kind": "2"}, {"id": "7", "kind": "1"}, {"id": "8", "kind": "1"}],
        "old": [{"kind": "1"}, {"id": "2", "kind": "2"}, {"id": "3"}],
    }
    scanned = scan_of(spark, b=[json.dumps(moved)])
    try:
        rows = scanned.records.orderBy("row").collect()
        images = [[json.loads(row[name] or "null") for name in ("before", "after")] for row in rows]
    finally:
        scanned.close()
    assert [row["op"] for row in rows] == ["u", "d", "c", "d", "c"]
    assert images == [
        [{"id": "1", "kind": "x"}, {"id": "1", "kind": "y"}],
        [{"id": "2", "kind": "y"}, None],
        [None, {"id": "7", "kind": "x"}],
        [{"id": "3", "kind": "x"}, None],
        [None, {"id": "8", "kind": "x"}],
    ]


def test_both_envelopes_declare_the_same_columns(scan: Scan) -> None:
    a, b = (declared(scan, instance) for instance in "ab")
    assert [(column.name, column.delta) for column in a.lake] == [(column.name, column.delta) for column in b.lake]


def test_a_record_goes_where_its_table_holds_it(spark: SparkSession) -> None:
    tables = [
        ORDERS,
        SourceTable("ods_users", "school.users", ("a",), ("id",), None, ()),
        SourceTable("ods_more", "school.orders_x_*", ("b", "c"), ("id",), None, ()),
    ]
    physical = ["orders_0", "orders_12", "orders_", "orders_1_2", "orders", "orders_x_3", "users", "users_1", "xusers"]
    rows = [
        (instance, "c", f"school.{name}", None, None, None, None, None, "") for instance in "abc" for name in physical
    ]
    records = spark.createDataFrame(
        rows,
        "instance STRING, op STRING, physical STRING, changes STRING, ddl STRING, loaded STRING, load_problem STRING, "
        "problem STRING, line STRING",
    )
    for row in route(records, tables).collect():
        holding = [table.name for table in tables if table.holds(row["instance"], row["physical"])]
        assert ([row["table"]] if row["table"] else []) == holding, row


def test_an_invalid_message_is_bad_and_other_records_are_no_change(spark: SparkSession) -> None:
    query = {"type": "QUERY", "database": "school", "table": "", "es": 5, "isDdl": False, "data": None, "sql": "BEGIN"}
    drop = {"type": "ERASE", "database": "school", "table": "orders_1", "es": 6, "isDdl": True, "data": None}
    empty = {"type": "INSERT", "database": "school", "table": "orders_1", "es": 7, "isDdl": False, "data": None}
    sent = [json.dumps(query), json.dumps(drop), json.dumps(empty), "{", "[]", '{"type": "INSERT"}']
    scanned = scan_of(spark, b=sent)
    try:
        rows = scanned.records.orderBy("offset").collect()
        assert [(row["op"], row["problem"] is not None) for row in rows] == [
            (None, False), (None, False), (None, True), (None, True), (None, True), (None, True),
        ]  # fmt: skip
        assert [(drop.offset, drop.physical) for drop in scanned.summary.table_drops] == [(1, "school.orders_1")]
    finally:
        scanned.close()


def test_types_as_the_server_prints_them() -> None:
    types = {"a": "int(10) unsigned", "b": "decimal(12,4)", "c": "enum('x','y z')", "d": "text", "e": "datetime(6)"}
    (schema,) = parse_declarations(json.dumps({"physical": "s.t", "types": json.dumps(types)})).schemas
    assert [(column.name, column.delta) for column in schema.source_columns().columns] == [
        ("a", "BIGINT"),
        ("b", "DECIMAL(12,4)"),
        ("c", "STRING"),
        ("d", "STRING"),
        ("e", "TIMESTAMP_NTZ"),
    ]
    drop = json.dumps([{"type": "DROP", "id": '"s"."t"'}, {"type": "CREATE", "id": "x"}])
    assert parse_declarations(drop).dropped == ("s.t",)

"""The same rows have the same text, counts and checksums in MariaDB and in Spark, whatever they hold."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.components.test_both_captures import COLUMNS, EXAMPLES, exactly
from tidemark.capture.audit.audited_range import AuditedRange, Patch
from tidemark.capture.audit.compared_shard import ComparedShard
from tidemark.capture.audit.group_checksum import differing
from tidemark.capture.audit.lake_reader import LakeReader
from tidemark.capture.audit.source_reader import SourceReader
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.schema.recorded_schema import parse_declarations
from tidemark.capture.schema.schema_changes import RecordedSchemaChange, evolve
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.console.servers.mariadb import USER
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pymysql.cursors import Cursor
    from pyspark.sql import SparkSession

    from tidemark.console.servers.mariadb import MariaDb

pytestmark = [pytest.mark.spark, pytest.mark.components]

DATABASE, ROWS = "audited", 120
MORE = {
    "padded": "INT(8) ZEROFILL",
    "old": "VARCHAR(20) CHARACTER SET latin1",
    "zero": "DATE NULL",
    "zero_at": "DATETIME NOT NULL",
    "bytes_": "BINARY(4)",
}
EXAMPLES_OF_MORE: dict[str, list[Any]] = {
    "padded": [0, 42],
    "old": ["", "caf\u00e9 \u20ac", "~"],
    "zero": ["0000-00-00", "1970-01-01", None],
    "zero_at": ["0000-00-00 00:00:00", "2026-03-29 02:30:00", "1970-01-01 00:00:00"],
    "bytes_": [b"ab\x00\x00", b"\x00" * 4],
}


@pytest.fixture
def filled(mariadb_server: MariaDb) -> Iterator[Cursor]:
    """Random rows of every type, one of them of nothing but NULL."""
    chance, kinds = random.Random(11), {**COLUMNS, **MORE}
    listed = ", ".join(f"`{name}` {kind}" for name, kind in kinds.items())
    with mariadb_server.connect() as session, session.cursor() as sql:
        sql.execute(f"CREATE DATABASE {DATABASE}; USE {DATABASE}; SET sql_mode = ''")
        while sql.nextset():
            pass
        sql.execute(f"CREATE TABLE wide_0 ({listed}, PRIMARY KEY (id)) CHARACTER SET utf8mb4")
        sql.execute("CREATE TABLE named_0 (name VARCHAR(64), part INT, v INT, PRIMARY KEY (name, part))")
        examples = {**EXAMPLES, **EXAMPLES_OF_MORE}
        for number in range(ROWS):
            row = {name: chance.choice([None, *values]) if number else None for name, values in examples.items()}
            row |= {"id": 2**64 - 1 if number == 1 else number * 7, "zero_at": chance.choice(examples["zero_at"])}
            names = ", ".join(f"`{name}`" for name in row)
            sql.execute(f"INSERT INTO wide_0 ({names}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values()))  # noqa: S608 - this file's names
            key = (chance.choice(["a", "A,", "\u00e4", ""]), number, number)
            sql.execute("INSERT INTO named_0 VALUES (%s, %s, %s)", key)
        yield sql
        sql.execute(f"DROP DATABASE {DATABASE}")


def lake_columns(sql: Cursor, physical: str) -> TableColumns:
    """The lake's columns as capture makes them of the server's."""
    sql.execute(
        "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = %s AND table_name = %s "
        "ORDER BY ordinal_position",
        physical.split("."),
    )
    said = {"physical": physical, "types": json.dumps(dict(sql.fetchall()))}
    schemas = parse_declarations(json.dumps(said)).schemas
    return evolve(TableColumns(), [RecordedSchemaChange("a", 0, schema) for schema in schemas], {})


def write_lake(spark: SparkSession, path: Path, columns: TableColumns, rows: list[dict[str, Any]]) -> None:
    """What capture would have written of the rows, two of every hundred otherwise."""
    kinds = {**columns.kinds, "_shard": "STRING", "_offset": "BIGINT"}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in kinds.items())
    made = [tuple({**row, "_offset": 1}[name] for name in kinds) for row in rows]
    spark.createDataFrame(made, schema).write.format("delta").mode("overwrite").save(str(path))


def stored(sql: Cursor, table: str, columns: TableColumns) -> list[dict[str, Any]]:
    """The server's rows as values of the lake."""
    listed = ", ".join(map(exactly, columns.by_name))
    sql.execute(f"SELECT {listed} FROM {table}")  # noqa: S608 - this file's names
    rows = [dict(zip(columns.by_name, map(lake_value, columns.by_name, row), strict=True)) for row in sql.fetchall()]
    return [{**row, "_shard": f"a.{DATABASE}.{table}"} for row in rows]


def lake_value(name: str, value: Any) -> Any:
    if name.startswith("stamp") and value is not None:
        return value.replace(tzinfo=UTC)
    if name == "flag" and value is not None:
        return bool(value[0])
    if isinstance(value, str) and value.startswith("0000-00-00"):
        return None
    if name in ("id", "ubig") and value is not None:
        return Decimal(value)
    return value


def test_all_types_are_alike_and_each_change_of_a_value_is_seen(
    spark: SparkSession, filled: Cursor, mariadb_server: MariaDb, tmp_path: Path
) -> None:
    reader = SourceReader(
        HeartbeatDatabase("a", LOOPBACK, mariadb_server.port, DATABASE, USER, mariadb_server.password)
    )
    lake = LakeReader.of(spark, tmp_path)
    compared = {}
    for table, key in (("wide_0", ("id",)), ("named_0", ("name", "part"))):
        physical = f"{DATABASE}.{table}"
        columns = lake_columns(filled, physical)
        shard = ComparedShard.of(columns, key, reader.columns(physical))
        assert shard is not None
        compared[table] = shard
        rows = stored(filled, table, columns)
        write_lake(spark, tmp_path / table, columns, rows)
        whole = Patch(table, f"a.{physical}", AuditedRange())
        source = reader.rows(whole, shard)
        assert {key: [text] for key, text in source.rows.items()} == {
            key: [row.text for row in of_key] for key, of_key in lake.rows([whole], shard, 0)[0].items()
        }
        assert source.mark.base == "binlog"
        assert len(source.rows) == ROWS
    assert compared["wide_0"].first is not None
    assert compared["named_0"].first is None
    assert {column.name for column in compared["wide_0"].columns} == {*COLUMNS, *MORE}

    # By ranges, in groups: the same, and not the same where one value of one row is another.
    bound = reader.next_bound(f"{DATABASE}.wide_0", compared["wide_0"], None, 60)
    assert bound == str(60 * 7)
    patches = [
        Patch("wide_0", f"a.{DATABASE}.wide_0", AuditedRange(None, bound)),
        Patch("wide_0", f"a.{DATABASE}.wide_0", AuditedRange(bound, None)),
    ]
    sides = zip(
        [reader.groups(patch, compared["wide_0"]).groups for patch in patches],
        lake.groups(patches, compared["wide_0"], 0),
        strict=True,
    )
    assert [differing(*side) for side in sides] == [(), ()]
    filled.execute("UPDATE wide_0 SET price = IF(price = 1, 2, 1) WHERE id = 70")
    again = [reader.groups(patch, compared["wide_0"]).groups for patch in patches]
    changed, same = (differing(*side) for side in zip(again, lake.groups(patches, compared["wide_0"], 0), strict=True))
    assert (len(changed), same) == (1, ())
    narrowed = Patch("wide_0", f"a.{DATABASE}.wide_0", AuditedRange(None, bound), changed)
    rows_there, rows_here = (
        reader.rows(narrowed, compared["wide_0"]).rows,
        lake.rows([narrowed], compared["wide_0"], 0)[0],
    )
    assert rows_there.keys() == rows_here.keys()
    assert [key for key, text in rows_there.items() if text != rows_here[key][0].text] == ["70"]
    assert compared["wide_0"].differing_columns(rows_there["70"], rows_here["70"][0].text) == ("price",)

    # Of some keys alone: one is not there, one not in the range, one no floating number has.
    keys = compared["wide_0"].first_values(["70", "14", "71", str(2**64 - 1)])
    for key_range, expected in (
        (AuditedRange(None, bound), {"14", "70"}),
        (AuditedRange(), {"14", "70", str(2**64 - 1)}),
    ):
        at_keys = replace(narrowed, range=key_range, buckets=(), first_values=keys)
        assert reader.rows(at_keys, compared["wide_0"]).rows.keys() == expected
        assert lake.rows([at_keys], compared["wide_0"], 0)[0].keys() == expected
    assert compared["named_0"].first_values(["61,1"]) == ()

    # Several patches at once, also where rows are in two of them.
    at_once = lake.rows([patches[1], narrowed, patches[0]], compared["wide_0"], 0)
    assert at_once[1] == rows_here
    assert rows_here.keys() <= at_once[2].keys()
    assert len(at_once[0]) + len(at_once[2]) == ROWS

    # Of a key that both sides order in their own way, slices.
    slices = [Patch("named_0", f"a.{DATABASE}.named_0", AuditedRange(slice_=at, slices=3)) for at in range(3)]
    there = [reader.groups(patch, compared["named_0"]).groups for patch in slices]
    assert there == lake.groups(slices, compared["named_0"], 0)
    assert sum(group.rows for groups in there for group in groups.values()) == ROWS
    reader.close()

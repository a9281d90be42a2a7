"""One workload in a real server, captured by Debezium and by Canal: the same tables, and those that the server has."""

from __future__ import annotations

import random
import struct
import time
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.components import canal as canal_server
from tests.components.availability import MARIADB, require
from tests.components.install import canal_classpath
from tests.lake_folder import lake_folder
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers import kafka_connect as debezium
from tidemark.console.servers.jars import jars
from tidemark.console.servers.mariadb import mariadb
from tidemark.delta.delta_rs_table import read_rows, table_exists
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pymysql.cursors import Cursor
    from pyspark.sql import SparkSession

    from tidemark.console.servers.kafka import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.components, pytest.mark.long]

Rows = dict[tuple[str, int], dict[str, Any]]
DATABASE, SHARDS, CHANGES, SECONDS = "pair", 2, 300, 300.0
COLUMNS = {
    "id": "BIGINT UNSIGNED NOT NULL",
    "day": "DATE NULL",
    "tiny": "TINYINT",
    "utiny": "TINYINT UNSIGNED",
    "small": "SMALLINT",
    "usmall": "SMALLINT UNSIGNED",
    "medium": "MEDIUMINT",
    "umedium": "MEDIUMINT UNSIGNED",
    "plain": "INT",
    "uplain": "INT UNSIGNED",
    "big": "BIGINT",
    "ubig": "BIGINT UNSIGNED",
    "price": "DECIMAL(10,2)",
    "exact": "DECIMAL(38,10)",
    "whole": "DECIMAL(20,0) UNSIGNED",
    "single_": "FLOAT",
    "double_": "DOUBLE",
    "flag": "BIT(1)",
    "fixed": "CHAR(5)",
    "note": "VARCHAR(64)",
    "long_note": "MEDIUMTEXT",
    "document": "JSON",
    "kind": "ENUM('x', 'y z', 'it''s')",
    "tags": "SET('a', 'b', 'c')",
    "raw": "VARBINARY(16)",
    "picture": "BLOB",
    "at": "DATETIME",
    "at_ms": "DATETIME(3)",
    "at_us": "DATETIME(6)",
    "stamp": "TIMESTAMP NULL",
    "stamp_us": "TIMESTAMP(6) NULL",
    "clock": "TIME",
    "clock_us": "TIME(6)",
    "made": "YEAR",
    "seats": "INT DEFAULT 5",
    "room": "VARCHAR(16) DEFAULT 'none'",
    "fee": "DECIMAL(9,2) DEFAULT 1.50",
    "begins": "DATETIME DEFAULT '2026-01-01 00:00:00'",
}
EXAMPLES: dict[str, list[Any]] = {
    "day": ["2026-03-23", "2026-03-24", "1969-12-31", "0001-01-01"],
    "tiny": [-128, 127],
    "utiny": [0, 255],
    "small": [-32768, 32767],
    "usmall": [65535],
    "medium": [-8388608, 8388607],
    "umedium": [16777215],
    "plain": [-(2**31), 2**31 - 1],
    "uplain": [2**32 - 1],
    "big": [-(2**63), 2**63 - 1],
    "ubig": [0, 2**64 - 1],
    "price": ["2.00", "-0.10", "99999999.99"],
    "exact": ["1234567890123456789012345678.0123456789", "-0.0000000001"],
    "whole": ["18446744073709551616"],
    "single_": [0.5, -1.25e10, 0.1, 123456.789, 16777215, 3.4028234e38],
    "double_": [0.1, -1.7976931348623157e308, 5e-324, 2.0000000000000004],
    "flag": [0, 1],
    "fixed": ["ab", "\u00e4\u00f6\u00fc\u00df\u20ac"],
    "note": ["", "a|b", "quote ' \" and \\", "zwei\nZeilen", "\U0001f389", "null"],
    "long_note": ["n" * 70_000, ""],
    "document": ['{"a": [1, null, "\u00e4"]}', "[]"],
    "kind": ["x", "y z", "it's"],
    "tags": ["", "a", "a,c"],
    "raw": [b"", bytes(range(240, 256))],
    "picture": [bytes(range(256)), b"\x00"],
    "at": ["2026-03-29 02:30:00", "1000-01-01 00:00:00", "0099-12-31 00:00:00"],
    "at_ms": ["2026-03-29 02:30:00.123"],
    "at_us": ["2026-03-29 02:30:00.123456", "1969-12-31 23:59:59.999999"],
    "stamp": ["2026-03-29 01:30:00"],
    "stamp_us": ["2026-03-29 01:30:00.123456", "1970-01-01 00:00:01.000001"],
    "clock": ["-838:59:59", "00:00:01", "23:59:59"],
    "clock_us": ["12:34:56.000789", "-00:00:00.000001"],
    "made": [1901, 2155],
    "seats": [0],
    "room": [""],
    "fee": ["0.00"],
    "begins": ["2026-03-29 02:30:00"],
}


def declare(sql: Cursor) -> None:
    sql.execute(f"CREATE DATABASE {DATABASE}; USE {DATABASE}")
    for shard in range(SHARDS):
        listed = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        sql.execute(f"CREATE TABLE orders_{shard} ({listed}, PRIMARY KEY (id)) CHARACTER SET utf8mb4")
    sql.execute("FLUSH BINARY LOGS")


def live(sql: Cursor, chance: random.Random) -> None:
    """Random rows that come, change, move to another day or key, go and return."""
    for _ in range(CHANGES):
        table, key = f"orders_{chance.randrange(SHARDS)}", chance.randrange(25)
        if chance.random() < 0.1:
            # Two rows of one statement; where the key is taken, they keep theirs.
            first = chance.randrange(24)
            sql.execute(f"UPDATE IGNORE {table} SET id = id + 12 WHERE id BETWEEN {first} AND {first + 1}")  # noqa: S608 - the names are this file's own
            continue
        if chance.random() < 0.2:
            sql.execute(f"DELETE FROM {table} WHERE id = %s", (key,))  # noqa: S608 - the names are this file's own
            continue
        row = {name: chance.choice([None, *examples]) for name, examples in EXAMPLES.items()}
        names = ", ".join(f"`{name}`" for name in row)
        again = ", ".join(f"`{name}` = VALUES(`{name}`)" for name in row if chance.random() < 0.6)
        values, updated = ", ".join(["%s"] * (1 + len(row))), f", {again}" * bool(again)
        statement = f"INSERT INTO {table} (id, {names}) VALUES ({values}) ON DUPLICATE KEY UPDATE id = VALUES(id)"  # noqa: S608 - as above
        sql.execute(statement + updated, (key, *row.values()))


def exactly(name: str) -> str:
    """SQL of a column's whole value: a client makes a duration of a TIME, a server prints six digits of a FLOAT."""
    if name.startswith("clock"):
        return f"CAST(`{name}` AS CHAR)"
    return "`single_` * 1.0e0" if name == "single_" else f"`{name}`"


def stored_rows(sql: Cursor) -> Rows:
    """The server's rows, in the lake's types."""
    rows: Rows = {}
    names = ", ".join(map(exactly, COLUMNS))
    for shard in range(SHARDS):
        sql.execute(f"SELECT {names} FROM orders_{shard}")  # noqa: S608 - the names are this file's own
        for row in sql.fetchall():
            rows[f"orders_{shard}", int(row[0])] = dict(zip(COLUMNS, map(plain, COLUMNS, row), strict=True))
    return rows


def captured_rows(path: Path) -> Rows:
    if not table_exists(path):
        return {}
    return {
        (row["_shard"].rpartition(".")[2], int(row["id"])): {name: plain(name, row[name]) for name in COLUMNS}
        for row in read_rows(path).to_pylist()
    }


def differences(ours: Rows, other: Rows) -> dict[str, Any]:
    """Keys that one of them lacks, and a column's first two values that are not the same."""
    unequal: dict[str, Any] = {"keys": ours.keys() ^ other.keys()}
    for key in ours.keys() & other.keys():
        for name, value in ours[key].items():
            if value != other[key][name]:
                unequal[name] = value, other[key][name]
    return {name: values for name, values in unequal.items() if values}


def plain(name: str, value: Any) -> Any:
    """One form for what the server and the lake hand out."""
    if name == "flag" and isinstance(value, bytes):
        return bool(value[0])
    if name == "single_" and value is not None:
        return struct.unpack("f", struct.pack("f", value))
    if hasattr(value, "tzinfo"):
        return value.replace(tzinfo=None)
    return Decimal(value) if name in ("ubig", "id") and value is not None else value


def test_both_captures_make_the_servers_tables(spark: SparkSession, kafka_server: Kafka, tmp_path: Path) -> None:
    require(MARIADB)
    sources = [
        SourceTable(f"ods_{name}", "pair.orders_*", (name,), ("id",), "day", ()) for name in ("pair", "canal_pair")
    ]
    with ExitStack() as stack:
        server = stack.enter_context(mariadb("pair", 7, tmp_path / "pair"))
        session = stack.enter_context(server.connect())
        sql = stack.enter_context(session.cursor())
        declare(sql)
        kafka_server.create_topic(canal_server.topic_of(server))
        stack.enter_context(debezium.connect(jars(), kafka_server, [server], DATABASE, tmp_path / "connect"))
        stack.enter_context(canal_server.canal(canal_classpath(), kafka_server, [server], DATABASE, tmp_path / "canal"))
        live(sql, random.Random(5))
        expected = stored_rows(sql)
        settings = Settings.at(tmp_path / "data", kafka=kafka_server.bootstrap_servers, canal="canal_pair")
        registry = SnapshotRegistry.at(settings.state_db)
        intake = KafkaIntake.of(settings)
        captures: list[Rows] = []
        deadline = time.monotonic() + SECONDS
        while captures != [expected, expected] and time.monotonic() < deadline:
            report = Ingestion(spark, settings, sources, registry, intake).step()
            assert not report.halted
            captures = [captured_rows(lake_folder(settings.warehouse / source.name)) for source in sources]
    assert [differences(of_one, expected) for of_one in captures] == [{}, {}]

"""A first load on real servers: rows that no binlog has, changes that go on, a connector that is killed meanwhile."""

from __future__ import annotations

import random
import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.components import test_both_captures as typed
from tests.components.availability import MARIADB, require
from tests.lake_folder import lake_folder
from tests.until import until
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.heartbeat.writer import write_heartbeat
from tidemark.capture.initial_load.errors import LoadRefusedError, NothingToLoadError
from tidemark.capture.initial_load.request_load import request_load
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.operations.preflight.connectors import connectors
from tidemark.capture.source.kafka.broker_offsets import Broker
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka_connect import Connect, connect
from tidemark.console.servers.mariadb import USER, mariadb
from tidemark.delta.delta_rs_table import read_rows, table_exists
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.free_port import LOOPBACK
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.console.servers.kafka import Kafka
    from tidemark.console.servers.mariadb import MariaDb

pytestmark = [pytest.mark.spark, pytest.mark.components]

ROWS, SHARDS, SECONDS = 10_000, 2, 240.0
DATABASE = "earlier"
SMALL_CHUNKS = {"incremental.snapshot.chunk.size": "100"}
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
SOURCE = SourceTable("ods_kept", f"{DATABASE}.kept_*", ("kept",), ("id",), None, (("ods_kept", "day", YESTERDAY),))
COUNTER = count()
NULLS_REPLACED = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "value.converter.replace.null.with.default": "true",
}
Rows = dict[tuple[str, int], int]


def fill(server: MariaDb) -> None:
    """Rows that came before any binlog that there is."""
    with server.connect() as session, session.cursor() as sql:
        sql.execute(f"CREATE DATABASE {DATABASE}")
        session.select_db(DATABASE)
        for shard in range(SHARDS):
            sql.execute(f"CREATE TABLE {DATABASE}.kept_{shard} (id INT PRIMARY KEY, v INT)")
            sql.execute(f"INSERT INTO {DATABASE}.kept_{shard} SELECT seq, 0 FROM seq_1_to_{ROWS}")  # noqa: S608 - numbers
        sql.execute("FLUSH BINARY LOGS")
        sql.execute(f"PURGE BINARY LOGS TO '{server.binlogs()[-1].name}'")


class LoadLife(threading.Thread):
    """Rows that change, go and come while the others are read."""

    def __init__(self, server: MariaDb, seed: int) -> None:
        super().__init__(daemon=True)
        self._server, self._chance, self._end = server, random.Random(seed), threading.Event()
        self.changes = 0

    def run(self) -> None:
        with self._server.connect(DATABASE) as session, session.cursor() as sql:
            while not self._end.is_set():
                table, key = f"kept_{self._chance.randrange(SHARDS)}", self._chance.randrange(1, ROWS + 200)
                if self._chance.random() < 0.3:
                    sql.execute(f"DELETE FROM {table} WHERE id = {key}")  # noqa: S608 - numbers
                else:
                    sql.execute(f"REPLACE INTO {table} VALUES ({key}, {self._chance.randrange(10**6)})")  # noqa: S608
                self.changes += 1
                self._end.wait(0.01)

    def stop(self) -> None:
        self._end.set()
        self.join()


def stored_rows(server: MariaDb) -> Rows:
    rows_by_key: Rows = {}
    with server.connect(DATABASE) as session, session.cursor() as sql:
        for shard in range(SHARDS):
            sql.execute(f"SELECT id, v FROM kept_{shard}")  # noqa: S608 - a number
            rows_by_key |= {(f"kept.{DATABASE}.kept_{shard}", key): value for key, value in sql.fetchall()}
    return rows_by_key


def captured_rows(path: Path) -> Rows:
    rows = read_rows(path).to_pylist() if table_exists(path) else []
    return {(row["_shard"], row["id"]): row["v"] for row in rows}


@pytest.mark.long
def test_initial_load_and_changes_are_the_database_in_the_end(
    spark: SparkSession, kafka_server: Kafka, tmp_path: Path
) -> None:
    require(MARIADB)
    with ExitStack() as stack:
        server = stack.enter_context(mariadb("kept", 17, tmp_path / "kept"))
        fill(server)
        database = HeartbeatDatabase("kept", LOOPBACK, server.port, DATABASE, USER, server.password)

        def connect_anew() -> Connect:
            started = connect(
                jars(), kafka_server, [server], DATABASE, tmp_path / "connect",
                snapshot_mode="no_data", others=SMALL_CHUNKS,
            )  # fmt: skip
            return stack.enter_context(started)

        worker = connect_anew()
        life = LoadLife(server, seed=3)
        life.start()
        settings = Settings.at(tmp_path / "data", kafka=kafka_server.bootstrap_servers)
        registry = SnapshotRegistry.at(settings.state_db)
        intake = KafkaIntake.of(settings)

        def step() -> Rows:
            write_heartbeat(database, datetime.now(UTC))
            # Each one is a process that was just started: it knows what the commits say.
            report = Ingestion(spark, settings, [SOURCE], registry, intake).step()
            assert not report.halted
            return captured_rows(lake_folder(settings.warehouse / SOURCE.name))

        step()
        assert request_load(database, SOURCE) == [f"{DATABASE}.kept_0", f"{DATABASE}.kept_1"]
        broker = Broker(kafka_server.bootstrap_servers)
        asked_at = message_count(broker)
        until(lambda: message_count(broker) > asked_at + ROWS // 5)
        worker.server.kill()
        assert 0 < len(step()) < SHARDS * ROWS // 2
        assert len(initial_load_pending(settings)) == SHARDS
        worker = connect_anew()
        until(lambda: len(step()) > SHARDS * ROWS // 2 and not initial_load_pending(settings))
        life.stop()
        assert life.changes > 500
        until(lambda: step() == stored_rows(server))
        # Today began before the rows were there.
        assert registry.of("ods_kept", "day") == ()
        assert worker.state(topic_of("kept")) == "RUNNING"


def message_count(broker: Broker, instance: str = "kept") -> int:
    """How many messages there are."""
    return broker.bounds([topic_of(instance)])[topic_of(instance)].high


def initial_load_pending(settings: Settings) -> tuple[str, ...]:
    commit = last_commit(settings.warehouse / SOURCE.name)
    return () if commit is None else commit.state.initial_load_pending


def test_a_load_is_asked_for_in_the_signal_table_and_refused_in_words(mariadb_server: MariaDb) -> None:
    database = HeartbeatDatabase("a", LOOPBACK, mariadb_server.port, "asking", USER, mariadb_server.password)
    source = SourceTable("ods_kept", "asking.kept_*", ("a",), ("id",), None, ())
    with mariadb_server.connect() as session, session.cursor() as sql:
        sql.execute("CREATE DATABASE asking")
        try:
            with pytest.raises(NothingToLoadError, match=r"a table asking\.kept_\*"):
                request_load(database, source)
            sql.execute("CREATE TABLE asking.kept_0 (id INT PRIMARY KEY); CREATE TABLE asking.kept_x (id INT)")
            while sql.nextset():
                pass
            assert request_load(database, source) == ["asking.kept_0"]
            sql.execute("SELECT type, data FROM asking.tidemark_signal")
            assert sql.fetchall() == (
                ("execute-snapshot", '{"data-collections": ["asking.kept_0"], "type": "INCREMENTAL"}'),
            )
            with pytest.raises(LoadRefusedError, match="Access denied"):
                request_load(HeartbeatDatabase("a", LOOPBACK, mariadb_server.port, "asking", USER, "wrong"), source)
        finally:
            sql.execute("DROP DATABASE asking")


def test_a_load_makes_the_servers_rows_of_every_type(spark: SparkSession, kafka_server: Kafka, tmp_path: Path) -> None:
    require(MARIADB)
    source = SourceTable("ods_typed", "pair.orders_*", ("typed",), ("id",), None, (("ods_typed", "day", YESTERDAY),))
    with ExitStack() as stack:
        server = stack.enter_context(mariadb("typed", 19, tmp_path / "typed"))
        session = stack.enter_context(server.connect())
        sql = stack.enter_context(session.cursor())
        typed.declare(sql)
        typed.live(sql, random.Random(8))
        # Debezium lists the tables before it reads its position. A table made in between stops the connector.
        database = HeartbeatDatabase("typed", LOOPBACK, server.port, typed.DATABASE, USER, server.password)
        write_heartbeat(database, datetime.now(UTC))
        sql.execute("FLUSH BINARY LOGS")
        sql.execute(f"PURGE BINARY LOGS TO '{server.binlogs()[-1].name}'")
        started = connect(jars(), kafka_server, [server], typed.DATABASE, tmp_path / "connect", snapshot_mode="no_data")
        stack.enter_context(started)
        settings = Settings.at(tmp_path / "data", kafka=kafka_server.bootstrap_servers)
        registry, intake = SnapshotRegistry.at(settings.state_db), KafkaIntake.of(settings)

        def captured() -> typed.Rows:
            write_heartbeat(database, datetime.now(UTC))
            assert not Ingestion(spark, settings, [source], registry, intake).step().halted
            return typed.captured_rows(lake_folder(settings.warehouse / source.name))

        broker = Broker(kafka_server.bootstrap_servers)
        until(lambda: message_count(broker, "typed") > 0 or bool(captured()))
        request_load(database, source)
        expected = typed.stored_rows(sql)
        rows = until(lambda: rows if (rows := captured()).keys() == expected.keys() else None, "all rows")
        commit = last_commit(settings.warehouse / source.name)
        assert commit is not None
        assert commit.state.holds.open == ()
    assert typed.differences(rows or {}, expected) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "column"),
    [
        ({"decimal.handling.mode": "double"}, "known_decimal"),
        ({"decimal.handling.mode": "precise"}, "known_decimal"),
        ({"time.precision.mode": "connect"}, "known_datetime"),
        ({"time.precision.mode": "nanoseconds"}, "known_time"),
        ({"time.precision.mode": "microseconds"}, "known_millis"),
        ({"time.precision.mode": "isostring"}, "known_datetime"),
        ({"enable.time.adjuster": "true"}, "known_date"),
        ({"bigint.unsigned.handling.mode": "precise"}, "known_unsigned"),
        ({"binary.handling.mode": "hex"}, "known_binary"),
        ({"binary.handling.mode": "base64-url-safe"}, "known_binary"),
        (NULLS_REPLACED, "always_null"),
    ],
    ids=lambda given: list(given.values())[-1] if isinstance(given, dict) else given,
)
def test_a_connector_that_changes_values_holds_every_tag_and_the_setting_is_named(
    spark: SparkSession, kafka_server: Kafka, tmp_path: Path, setting: dict[str, str], column: str
) -> None:
    require(MARIADB)
    name = f"altered{next(COUNTER)}"
    source = SourceTable("ods_kept", "altered.kept", (name,), ("id",), None, (("ods_kept", "day", YESTERDAY),))
    with ExitStack() as stack:
        server = stack.enter_context(mariadb(name, 23, tmp_path / "server"))
        with server.connect() as session, session.cursor() as sql:
            sql.execute("CREATE DATABASE altered")
            sql.execute("CREATE TABLE altered.kept (id INT PRIMARY KEY)")
            sql.execute("INSERT INTO altered.kept VALUES (1)")
        started = connect(jars(), kafka_server, [server], "altered", tmp_path / "connect", others=setting)
        worker = stack.enter_context(started)
        name_of_setting = list(setting)[-1]
        asked = connectors(f"http://{LOOPBACK}:{worker.port}", [name])
        assert [finding.found.split()[0] for finding in asked if finding.verdict == "problem"] == [name_of_setting]
        settings = Settings.at(tmp_path / "data", kafka=kafka_server.bootstrap_servers)
        registry, intake = SnapshotRegistry.at(settings.state_db), KafkaIntake.of(settings)
        database = HeartbeatDatabase(name, LOOPBACK, server.port, "altered", USER, server.password)

        def held() -> list[str]:
            write_heartbeat(database, datetime.now(UTC))
            Ingestion(spark, settings, [source], registry, intake).step()
            commit = last_commit(settings.warehouse / source.name)
            return [] if commit is None else [hold.detail for hold in commit.state.holds.open]

        details = until(held, "a hold")
    assert column in details[0]
    assert registry.of("ods_kept", "day") == ()

"""Counts by minute at real servers against the commits of the lake: PostgreSQL, MariaDB and Kafka, on local clocks."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import psycopg2
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable, write_deltalake

from tests.dependency_model.world import entity
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.lake_counts import lake_counts
from tidemark.crawl.source_counts import source_counts
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.components.postgres import Postgres
    from tidemark.console.servers.kafka import Kafka
    from tidemark.console.servers.mariadb import MariaDb
    from tidemark.dependency_model.entity.completeness import Completeness

pytestmark = pytest.mark.components

BEGIN = datetime(2024, 5, 1, 22, tzinfo=UTC)
"""Midnight in Paris."""
FIRST = seconds_of(BEGIN) // 60
INSTANTS = [BEGIN + timedelta(seconds=seconds) for seconds in (-1, 0, 59, 60, 61, 119, 3599, 3600)]
BY_MINUTE = {FIRST: 2, FIRST + 1: 3, FIRST + 59: 1}
"""Of the hour from BEGIN on."""
ODD = """a%(b)s"';`x"""


def declared(text: str) -> Completeness:
    counted = entity("orders", f"{{period: hour, completeness: {{time_column: at, {text}}}}}").completeness
    assert counted is not None
    return counted


def at_source(text: str, env: dict[str, str]) -> dict[int, int]:
    counts, _ = source_counts(declared(text), FIRST, FIRST + 60, ConnectionSecrets(env))
    minutes: dict[int, int] = {}
    for (minute, _), records in counts.items():
        minutes[minute] = minutes.get(minute, 0) + records
    return {minute: records for minute, records in minutes.items() if records}


def write(path: Path, instants: Sequence[datetime]) -> None:
    write_deltalake(path, pa.table({"at": instants}), mode="append")


def in_lake(path: Path) -> dict[int, int]:
    added = lake_counts(path, None, "at", None).added.values()
    minutes = {minute for part in added for minute in part if FIRST <= minute < FIRST + 60}
    return {minute: sum(part[minute] for part in added) for minute in minutes}


def test_postgresql(postgres_server: Postgres, tmp_path: Path) -> None:
    quoted = ODD.replace('"', '""').replace("%", "%%")
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute(f'CREATE TABLE "{quoted}" (at timestamptz)', ())
        cursor.executemany(f'INSERT INTO "{quoted}" VALUES (%s)', [(instant,) for instant in INSTANTS])  # noqa: S608
    table = ODD.replace("'", "''")
    counted = at_source(f"sql: [{{url: '${{DB}}', table: '{table}'}}]", {"DB": postgres_server.url})
    write(tmp_path / "orders", INSTANTS)
    assert counted == in_lake(tmp_path / "orders") == BY_MINUTE
    DeltaTable(tmp_path / "orders").delete(f"at = '{INSTANTS[1].isoformat()}'")
    assert in_lake(tmp_path / "orders") == BY_MINUTE | {FIRST: 1}, "deleted behind the count"
    write(tmp_path / "orders", INSTANTS[-2:])
    assert in_lake(tmp_path / "orders")[FIRST + 59] == 2, "doubled"


def test_mariadb_on_a_local_clock_and_over_shards(mariadb_server: MariaDb) -> None:
    local = [instant.astimezone(ZoneInfo("Europe/Paris")).replace(tzinfo=None) for instant in INSTANTS]
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE DATABASE counted")
        for shard in (0, 1):
            cursor.execute(f"CREATE TABLE counted.orders_{shard} (at DATETIME)")
            rows = [(instant,) for instant in local[shard::2]]
            cursor.executemany(f"INSERT INTO counted.orders_{shard} VALUES (%s)", rows)  # noqa: S608
        session.commit()
        cursor.execute("CREATE USER counter@'127.0.0.1' IDENTIFIED BY 'canary-pass'")
        cursor.execute("GRANT SELECT ON counted.* TO counter@'127.0.0.1'")
    try:
        url = f"mysql://counter:canary-pass@127.0.0.1:{mariadb_server.port}/counted"
        tables = ", ".join(f"{{url: '${{DB}}', table: counted.orders_{shard}}}" for shard in (0, 1))
        assert at_source(f"sql: [{tables}], time_zone: Europe/Paris", {"DB": url}) == BY_MINUTE
        with pytest.raises(ProbeError) as raised:
            at_source(f"sql: [{tables}]", {"DB": url.replace("canary-pass", "canary-wrong")})
        assert "canary" not in str(raised.value)
    finally:
        with mariadb_server.connect() as session, session.cursor() as cursor:
            cursor.execute("DROP DATABASE counted")
            cursor.execute("DROP USER counter@'127.0.0.1'")


@pytest.mark.long
def test_kafka_by_offsets(kafka_server: Kafka) -> None:
    kafka_server.create_topic("counted", config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap_servers, "log_level": 0})
    for instant in INSTANTS:
        producer.produce("counted", b"x", partition=0, timestamp=int(instant.timestamp() * 1000))
    assert producer.flush(60) == 0
    env = {"KAFKA": kafka_server.bootstrap_servers}
    text = "kafka: {servers: '${KAFKA}', topic: counted}"
    assert at_source(text, env) == BY_MINUTE
    _, final = source_counts(declared(text), FIRST, FIRST + 120, ConnectionSecrets(env))
    assert final == FIRST + 60, "more may come after the last record"

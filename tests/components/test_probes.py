"""Probes on real servers: PostgreSQL, MariaDB and Kafka, written by others; odd names, read-only, secrets masked."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg2
import pytest
from confluent_kafka import Producer
from sqlalchemy.exc import DBAPIError

from tests.crawl.probed_rules import EXPECTED, ROWS, RULES, verdicts
from tests.crawl.source_world import look
from tidemark.console.servers.mariadb import USER
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.probes.sql_table import _engine, database_url

if TYPE_CHECKING:
    from tests.components.postgres import Postgres
    from tidemark.console.servers.kafka import Kafka
    from tidemark.console.servers.mariadb import MariaDb
    from tidemark.dependency_model.arrival.sighting import Sight

pytestmark = pytest.mark.components

DAY, NEXT = "2026-03-29", "2026-03-30"
ODD = """a%(b)s"';:x"""


def seen(probe: str, env: dict[str, str]) -> list[tuple[bool, int | None]]:
    sights = [look(probe, key, env=env) for key in (DAY, NEXT)]
    return [(sight.is_there, sight.rows) for sight in sights]


def test_postgresql(postgres_server: Postgres) -> None:
    env = {"DB": postgres_server.url}
    quoted = ODD.replace('"', '""').replace("%", "%%")
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute(f'CREATE TABLE clicks (at timestamptz, plain timestamp, "{quoted}" date)', ())
        cursor.execute("INSERT INTO clicks VALUES ('2026-03-29 23:59:59Z', '2026-03-29 23:59:59', '2026-03-29')")
        cursor.execute("INSERT INTO clicks VALUES ('2026-03-30 00:00:00Z', '2026-03-30 00:00:00', '2026-03-30')")
    day = [(True, 1), (False, 1)]
    assert seen("sql: {url: '${DB}', table: public.clicks, time_column: at, watermark: at}", env) == day
    assert seen("sql: {url: '${DB}', table: clicks, time_column: plain, watermark: plain}", env) == day
    column = ODD.replace("'", "''")
    assert seen(f"sql: {{url: '${{DB}}', table: clicks, partition: {{'{column}': '{{key}}'}}}}", env) == [(True, 1)] * 2
    engine = _engine(database_url(postgres_server.url), 5)
    with pytest.raises(DBAPIError, match="read-only"), engine.connect() as connection:
        connection.exec_driver_sql("DELETE FROM clicks")
    with (
        pytest.raises(DBAPIError, match="timeout"),
        _engine(database_url(postgres_server.url), 1).connect() as connection,
    ):
        connection.exec_driver_sql("SELECT pg_sleep(30)")
    with pytest.raises(ProbeError, match="does not exist") as raised:
        look("sql: {url: '${DB}', table: nowhere, time_column: at}", DAY, env=env)
    assert str(postgres_server.port) not in str(raised.value)


def test_mariadb(mariadb_server: MariaDb) -> None:
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE DATABASE probed")
        quoted = ODD.replace("`", "``")
        cursor.execute(f"CREATE TABLE probed.clicks (at DATETIME, `{quoted}` DATE)")
        cursor.execute("INSERT INTO probed.clicks VALUES ('2026-03-29 23:59:59', '2026-03-29')")
        session.commit()
        cursor.execute("CREATE USER prober@'127.0.0.1' IDENTIFIED BY 'canary-pass'")
        cursor.execute("GRANT ALL ON probed.* TO prober@'127.0.0.1'")
    try:
        url = f"mysql://prober:canary-pass@127.0.0.1:{mariadb_server.port}/probed"
        day = [(True, 1), (False, 0)]
        assert seen("sql: {url: '${DB}', table: probed.clicks, time_column: at}", {"DB": url}) == day
        column = ODD.replace("'", "''")
        by_day = f"sql: {{url: '${{DB}}', table: clicks, partition: {{'{column}': '{{key}}'}}}}"
        assert seen(by_day, {"DB": url}) == day
        with pytest.raises(DBAPIError, match="READ ONLY"), _engine(database_url(url), 5).connect() as connection:
            connection.exec_driver_sql("DELETE FROM clicks")
        with pytest.raises(ProbeError) as raised:
            look(by_day, DAY, env={"DB": url.replace("canary-pass", "canary-wrong")})
        assert "canary" not in str(raised.value)
    finally:
        with mariadb_server.connect() as session, session.cursor() as cursor:
            cursor.execute("DROP DATABASE probed")
            cursor.execute("DROP USER prober@'127.0.0.1'")


_INSERT = "INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s)"


def test_postgresql_counts_what_breaks_each_rule(postgres_server: Postgres) -> None:
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        columns = "day date, id int, shop text, amount numeric, status text, at timestamp"
        cursor.execute(f"CREATE TABLE ruled ({columns})")
        cursor.executemany(_INSERT.format(table="ruled"), ROWS)
    probe = "sql: {url: '${DB}', table: ruled, partition: {day: '{key}'}}"
    assert verdicts(probe, look(probe, DAY, more=RULES, env={"DB": postgres_server.url})) == EXPECTED


def test_mariadb_counts_what_breaks_each_rule(mariadb_server: MariaDb) -> None:
    """`Paid` is not `paid`, and shop `A` not `a`, whatever the column's collation says."""
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE DATABASE ruled")
        columns = "day DATE, id INT, shop VARCHAR(9), amount DECIMAL(9), status VARCHAR(9), at DATETIME"
        cursor.execute(f"CREATE TABLE ruled.orders ({columns}) COLLATE utf8mb4_general_ci")
        cursor.executemany(_INSERT.format(table="ruled.orders"), ROWS)
        session.commit()
    try:
        url = f"mysql://{USER}:{mariadb_server.password}@127.0.0.1:{mariadb_server.port}/ruled"
        probe = "sql: {url: '${DB}', table: ruled.orders, partition: {day: '{key}'}}"
        assert verdicts(probe, look(probe, DAY, more=RULES, env={"DB": url})) == EXPECTED
    finally:
        with mariadb_server.connect() as session, session.cursor() as cursor:
            cursor.execute("DROP DATABASE ruled")


ODD_RULES = """quality:
- unique: [k]
- unique: [n]
- unique: [x]
- unique: [f]
- range: {column: s, min: B, max: b}
- range: {column: day, max: '2026-03-28'}
- accepted_values: {column: n, values: [1]}
- accepted_values: {column: s, values: [A, b]}
"""
"""As Spark counts: bytes are keys, numbers are equal by value, texts in the order of their letters."""
ODD_VERDICTS = [0, 1, 1, 0, 1, 2, 0, 0]


def broken(sight: Sight) -> list[int]:
    return [int(count or 0) for _, count in sight.measured]


def test_postgresql_compares_values_as_spark_does(postgres_server: Postgres) -> None:
    columns = 'day date, k bytea, n numeric, x double precision, f real, s text COLLATE "en-x-icu"'
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute(f"CREATE TABLE odd_values ({columns})")
        cursor.execute(r"INSERT INTO odd_values VALUES ('2026-03-29', '\xff01', 1.0, 0, 16777216, 'A')")
        cursor.execute(r"INSERT INTO odd_values VALUES ('2026-03-29', '\xfe01', 1.00, '-0', 16777220, 'b')")
    probe = "sql: {url: '${DB}', table: odd_values, partition: {day: '{key}'}}"
    assert broken(look(probe, DAY, more=ODD_RULES, env={"DB": postgres_server.url})) == ODD_VERDICTS


def test_mariadb_compares_values_as_spark_does(mariadb_server: MariaDb) -> None:
    columns = "day DATE, k BINARY(2), n DECIMAL(9, 2), x DOUBLE, f FLOAT, s VARCHAR(9) COLLATE utf8mb4_general_ci"
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE DATABASE odd_values")
        cursor.execute(f"CREATE TABLE odd_values.t ({columns})")
        cursor.execute("INSERT INTO odd_values.t VALUES ('2026-03-29', X'FF01', 1.0, 0e0, 16777216, 'A')")
        cursor.execute("INSERT INTO odd_values.t VALUES ('2026-03-29', X'FE01', 1.00, -0e0, 16777220, 'b')")
        session.commit()
    try:
        url = f"mysql://{USER}:{mariadb_server.password}@127.0.0.1:{mariadb_server.port}/odd_values"
        probe = "sql: {url: '${DB}', table: odd_values.t, partition: {day: '{key}'}}"
        assert broken(look(probe, DAY, more=ODD_RULES, env={"DB": url})) == ODD_VERDICTS
    finally:
        with mariadb_server.connect() as session, session.cursor() as cursor:
            cursor.execute("DROP DATABASE odd_values")


def test_kafka(kafka_server: Kafka) -> None:
    """Days that are long over: brokers refuse records that are ahead of their own clock."""
    probe, midnight = "kafka: {servers: '${KAFKA}', topic: probed}", datetime(2024, 5, 2, tzinfo=UTC)
    env = {"KAFKA": kafka_server.bootstrap_servers}
    kafka_server.create_topic("probed", config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap_servers, "log_level": 0})

    def write(*instants: datetime) -> None:
        for instant in instants:
            producer.produce("probed", b"x", partition=0, timestamp=int(instant.timestamp() * 1000))
        assert producer.flush(60) == 0

    def seen_by(now: datetime) -> list[tuple[bool, int | None]]:
        sights = [look(probe, key, env=env, now=now) for key in ("2024-05-01", "2024-05-02")]
        return [(sight.is_there, sight.rows) for sight in sights]

    june = datetime(2024, 6, 1, tzinfo=UTC)
    write(midnight - timedelta(hours=3), midnight - timedelta(seconds=1))
    assert seen_by(june) == [(False, 2), (False, 0)]
    write(june + timedelta(days=1))
    assert seen_by(june) == [(False, 2), (False, 0)], "its clock is ahead of ours"
    assert seen_by(june + timedelta(days=1)) == [(True, 2), (True, 0)]
    with pytest.raises(ProbeError):
        look(probe.replace("probed", "nowhere"), DAY, env=env)

"""`source:` against real servers: PostgreSQL, MariaDB and Kafka hold the rows, and a slice of them is copied."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg2
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.compute.copied_table import CopiedTable
from tidemark.console.servers.mariadb import USER

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.components.postgres import Postgres
    from tidemark.console.servers.kafka import Kafka
    from tidemark.console.servers.mariadb import MariaDb

pytestmark = [pytest.mark.components, pytest.mark.spark]

KEY, DAY = "2026-03-24", date(2026, 3, 24)
BEGIN = datetime(2026, 3, 23, 23, tzinfo=UTC)
"""Of that day in Paris."""
SOURCE = "period: day\nsource: {sql: {url: '${SHOP_DB}', table: %s, time_column: at}}\n"


def without_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "at"} for row in rows]


def test_a_table_of_postgresql_keeps_its_types(
    spark: SparkSession, tmp_path: Path, postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_DB", postgres_server.url)
    columns = (
        "id bigint, amount numeric(12,2), rate numeric, city text, is_new boolean, day date, doc jsonb, at timestamptz"
    )
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute(f"CREATE TABLE copied_orders ({columns})")
        insert = "INSERT INTO copied_orders VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
        for number, at in enumerate((BEGIN, BEGIN + timedelta(hours=23), BEGIN + timedelta(hours=24))):
            cursor.execute(insert, (2**40 + number, "7.5", "0.25", "Zürich", True, DAY, json.dumps({"a": [1]}), at))
        cursor.execute(insert, (0, *[None] * 6, BEGIN))
    table = CopiedTable(tmp_path, SOURCE % "public.copied_orders")
    assert (table.look(KEY).rows, table.look("2026-03-25").is_there) == (3, False)
    assert table.copy(spark, KEY)
    plain = {"amount": Decimal("7.50"), "rate": Decimal("0.250000000000000000"), "city": "Zürich", "is_new": True}
    full = {**plain, "day": DAY, "doc": '{"a": [1]}'}
    expected = [{"id": 2**40 + n, **full} for n in (0, 1)] + [{"id": 0, **dict.fromkeys(full)}]
    assert sorted(without_time(table.rows({"dt": DAY})), key=lambda row: row["id"]) == sorted(
        expected, key=lambda row: row["id"]
    )


def test_a_table_of_mariadb_keeps_its_types(
    spark: SparkSession, tmp_path: Path, mariadb_server: MariaDb, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"mysql://{USER}:{mariadb_server.password}@127.0.0.1:{mariadb_server.port}/copied"
    monkeypatch.setenv("SHOP_DB", url)
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("CREATE DATABASE copied")
        columns = "id BIGINT UNSIGNED, amount DECIMAL(9,3), city VARCHAR(20) CHARACTER SET utf8mb4, at DATETIME"
        cursor.execute(f"CREATE TABLE copied.orders ({columns})")
        for at in (BEGIN, BEGIN + timedelta(days=1)):
            cursor.execute(
                "INSERT INTO copied.orders VALUES (%s, 1.5, 'Zürich', %s)", (2**64 - 1, at.replace(tzinfo=None))
            )
        session.commit()
    try:
        table = CopiedTable(tmp_path, SOURCE % "copied.orders")
        assert table.copy(spark, KEY)
        rows = without_time(table.rows({"dt": DAY}))
        assert rows == [{"id": Decimal(2**64 - 1), "amount": Decimal("1.500"), "city": "Zürich"}]
    finally:
        with mariadb_server.connect() as session, session.cursor() as cursor:
            cursor.execute("DROP DATABASE copied")


@pytest.mark.long
def test_records_of_a_topic_are_copied_by_their_times(
    spark: SparkSession, tmp_path: Path, kafka_server: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two partitions, each with a record after the window; what deletes a key is no row."""
    topic = "copied_orders"
    monkeypatch.setenv("BROKERS", kafka_server.bootstrap_servers)
    admin = AdminClient({"bootstrap.servers": kafka_server.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap_servers})

    def send(partition: int, at: datetime, value: dict[str, Any] | None) -> None:
        text = None if value is None else json.dumps(value, indent=1)
        producer.produce(topic, text, "k", partition, timestamp=int(at.timestamp() * 1000))

    for partition in (0, 1):
        send(partition, BEGIN - timedelta(seconds=1), {"id": -1})
        send(partition, BEGIN, {"id": partition, "city": "Lyon"})
        send(partition, BEGIN + timedelta(hours=1), None)
    send(1, BEGIN + timedelta(hours=23), {"id": 5, "coupon": "X"})
    send(0, BEGIN + timedelta(days=1), {"id": 9})
    producer.flush(30)
    source = f"source: {{kafka: {{servers: '${{BROKERS}}', topic: {topic}}}}}\n"
    table = CopiedTable(tmp_path, f"period: day\n{source}columns: {{id: BIGINT, city: , coupon: , note: }}\n")
    assert table.look(KEY).why == "partition 1 has no record after the window yet"
    send(1, BEGIN + timedelta(days=1), {"id": 9})
    producer.flush(30)
    assert table.copy(spark, KEY)
    nothing = {"city": None, "coupon": None, "note": None}
    assert sorted(table.rows({"dt": DAY}), key=lambda row: row["id"]) == [
        {"id": 0, **nothing, "city": "Lyon"},
        {"id": 1, **nothing, "city": "Lyon"},
        {"id": 5, **nothing, "coupon": "X"},
    ]
    assert table.copy(spark, "2026-03-23")
    assert table.rows({"dt": date(2026, 3, 23)}) == [{"id": -1, **nothing}] * 2

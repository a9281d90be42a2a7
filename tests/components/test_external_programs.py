"""Rows in PostgreSQL and records in Kafka that other programs write release their day in a real Dagster instance."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import dagster as dg
import psycopg2
import pytest

from tests.dagster.sensors.external_program import DAY, releases_its_day_alone, run_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.postgres import Postgres
    from tidemark.console.servers.kafka import Kafka

pytestmark = pytest.mark.components

ROWS = """
import sys, psycopg2
session = psycopg2.connect(sys.argv[1])
session.cursor().execute("INSERT INTO daily_feed VALUES (%s, 1)", (sys.argv[2],))
session.commit()
"""
RECORDS = """
import sys
from datetime import datetime
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": sys.argv[1], "log_level": 0})
for at in sys.argv[2:]:
    producer.produce("daily_feed", b"x", partition=0, timestamp=int(datetime.fromisoformat(at).timestamp() * 1000))
assert producer.flush(60) == 0
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


def test_postgresql(
    tmp_path: Path, instance: dg.DagsterInstance, postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNER_DB", postgres_server.url)
    with closing(psycopg2.connect(postgres_server.dsn)) as session, session, session.cursor() as cursor:
        cursor.execute("CREATE TABLE daily_feed (day date, id int)")
    run_program(ROWS, postgres_server.dsn, "2026-03-22")
    probe = "sql: {url: '${PARTNER_DB}', table: daily_feed, partition: {day: '{key}'}}"
    releases_its_day_alone(tmp_path, instance, probe, lambda: run_program(ROWS, postgres_server.dsn, DAY))


def test_kafka(
    tmp_path: Path, instance: dg.DagsterInstance, kafka_server: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day is over in the topic once a later record is in it; the day before has none, and its rule fails."""
    monkeypatch.setenv("PARTNER_KAFKA", kafka_server.bootstrap_servers)
    kafka_server.create_topic("daily_feed", config={"retention.ms": "-1"})
    at_noon, later = f"{DAY}T12:00:00+01:00", "2026-03-25T00:30:00+01:00"
    run_program(RECORDS, kafka_server.bootstrap_servers, at_noon)
    probe = "kafka: {servers: '${PARTNER_KAFKA}', topic: daily_feed}"
    deliver = lambda: run_program(RECORDS, kafka_server.bootstrap_servers, later)  # noqa: E731
    releases_its_day_alone(tmp_path, instance, probe, deliver)

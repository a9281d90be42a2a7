"""The Canal server writes what the binlog has, in its order, and goes on after its end where it was."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.components.canal import canal, topic_of
from tests.components.install import canal_classpath

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka
    from tidemark.console.servers.mariadb import MariaDb


def rows(kafka: Kafka, topic: str, count: int) -> list[dict[str, Any]]:
    """The first `count` messages with rows."""
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 3, "group.id": "reader"}
    messages: list[dict[str, Any]] = []
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while len(messages) < count:
            message = consumer.poll(30)
            assert message is not None, f"{len(messages)} of {count} messages"
            value = json.loads(message.value() or b"{}")
            messages += [value] if value["data"] else []
    return messages


@pytest.mark.long
@pytest.mark.components
def test_changes_come_in_the_binlogs_order_also_after_a_restart(
    mariadb_server: MariaDb, kafka_server: Kafka, tmp_path: Path
) -> None:
    topic = topic_of(mariadb_server)
    kafka_server.create_topic(topic)
    with mariadb_server.connect() as session, session.cursor() as sql:
        sql.execute(
            "CREATE DATABASE canal_test; USE canal_test; CREATE TABLE t_0 (id INT PRIMARY KEY, v DECIMAL(10,2))"
        )
        sql.execute("FLUSH BINARY LOGS; INSERT INTO t_0 VALUES (1, 2), (2, NULL)")
        with canal(canal_classpath(), kafka_server, [mariadb_server], "canal_test", tmp_path):
            sql.execute("UPDATE t_0 SET v = 3 WHERE id = 1")
            before = rows(kafka_server, topic, 2)
        sql.execute("DELETE FROM t_0 WHERE id = 2")
        with canal(canal_classpath(), kafka_server, [mariadb_server], "canal_test", tmp_path):
            after = rows(kafka_server, topic, 3)
    assert [(message["type"], message["data"], message["old"]) for message in after] == [
        ("INSERT", [{"id": "1", "v": "2.0"}, {"id": "2", "v": None}], None),
        ("UPDATE", [{"id": "1", "v": "3.0"}], [{"v": "2.0"}]),
        ("DELETE", [{"id": "2", "v": None}], None),
    ]
    assert after[:2] == before

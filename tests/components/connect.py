"""Kafka Connect (standalone) with Debezium's MariaDB connector: the real capture of row changes.

Everything of one instance goes into one topic with one partition, so that offsets follow the binlog: rows, the
heartbeat table's rows and schema changes.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.components import mariadb
from tests.components.process import LOOPBACK, ServerProcess, free_port, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.components.install import Jars
    from tests.components.kafka import Kafka

_START_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Connect:
    """A running Kafka Connect worker with one connector an instance."""

    port: int
    server: ServerProcess

    def state(self, connector: str) -> str:
        """RUNNING when the connector and its task run; else the state and the trace of what failed."""
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self.port}/connectors/{connector}/status") as answer:
                status = json.load(answer)
        except urllib.error.URLError as unreachable:
            return f"UNREACHABLE: {unreachable}"
        parts = [status["connector"], *status["tasks"]]
        failed = [part.get("trace", part["state"]) for part in parts if part["state"] != "RUNNING"]
        return "\n".join(failed) if failed or not status["tasks"] else "RUNNING"


def topic_of(instance: mariadb.MariaDb) -> str:
    """The topic with everything of an instance."""
    return f"cdc.{instance.name}"


@contextmanager
def connect(
    jars: Jars, kafka: Kafka, instances: Sequence[mariadb.MariaDb], database: str, directory: Path
) -> Iterator[Connect]:
    """Start a worker that captures `database` of each instance from the first binlog record on."""
    port = free_port()
    directory.mkdir(parents=True, exist_ok=True)
    worker = directory / "worker.properties"
    worker.write_text(_lines(_worker(jars, kafka, port, directory)))
    files = [directory / f"{topic_of(instance)}.properties" for instance in instances]
    for file, instance in zip(files, instances, strict=True):
        kafka.create_topic(topic_of(instance))
        file.write_text(_lines(_connector(kafka, instance, database)))
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    java = ["java", "-Xmx768m", "-Dlog4j2.level=WARN", "-cp", jars.classpath, main]
    server = start("Kafka Connect", [*java, str(worker), *map(str, files)], directory)
    running = Connect(port, server)
    try:
        server.wait_until(
            lambda: all(running.state(topic_of(instance)) == "RUNNING" for instance in instances),
            _START_TIMEOUT_SECONDS,
        )
        yield running
    finally:
        server.stop()


def _worker(jars: Jars, kafka: Kafka, port: int, directory: Path) -> dict[str, str]:
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    return {
        "bootstrap.servers": kafka.bootstrap_servers,
        "key.converter": json_converter,
        "key.converter.schemas.enable": "false",
        "value.converter": json_converter,
        "value.converter.schemas.enable": "false",
        "offset.storage.file.filename": str(directory / "offsets"),
        "offset.flush.interval.ms": "1000",
        "plugin.path": str(jars.plugins),
        "plugin.discovery": "service_load",
        "listeners": f"HTTP://{LOOPBACK}:{port}",
    }


def _connector(kafka: Kafka, instance: mariadb.MariaDb, database: str) -> dict[str, str]:
    topic = topic_of(instance)
    return {
        "name": topic,
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "tasks.max": "1",
        "topic.prefix": topic,
        "database.hostname": LOOPBACK,
        "database.port": str(instance.port),
        "database.user": mariadb.USER,
        "database.password": mariadb.PASSWORD,
        "database.server.id": str(1000 + instance.server_id),
        "database.ssl.mode": "disable",
        "database.include.list": database,
        "include.schema.changes": "true",
        "decimal.handling.mode": "string",
        # From the first binlog record on: a snapshot's rows would carry the time of the snapshot, not of the change.
        "snapshot.mode": "never",
        "schema.history.internal.kafka.bootstrap.servers": kafka.bootstrap_servers,
        "schema.history.internal.kafka.topic": f"schema-history.{instance.name}",
        "transforms": "one_topic",
        "transforms.one_topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.one_topic.regex": f"{topic.replace('.', '[.]')}([.].*)?",
        "transforms.one_topic.replacement": topic,
    }


def _lines(settings: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())

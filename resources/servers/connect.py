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
from typing import TYPE_CHECKING, Any

from resources.servers import mariadb
from resources.servers.process import LOOPBACK, ServerProcess, free_port, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from resources.servers.jars import Jars
    from resources.servers.kafka import Kafka

_START_TIMEOUT_SECONDS = 120.0
_ANSWER_SECONDS = 90.0


@dataclass
class Connect:
    """A running Kafka Connect worker with one connector an instance.

    One that is started again goes on where its file of offsets says, which is a second old at most.
    """

    port: int
    connectors: tuple[str, ...]
    command: list[str]
    directory: Path
    server: ServerProcess

    def state(self, connector: str) -> str:
        """RUNNING when the connector and its task run; else the state and the trace of what failed."""
        try:
            status = self.ask("GET", f"{connector}/status")
        except (urllib.error.URLError, ConnectionError, TimeoutError) as unreachable:
            return f"UNREACHABLE: {unreachable}"
        parts = [status["connector"], *status["tasks"]]
        failed = [part.get("trace", part["state"]) for part in parts if part["state"] != "RUNNING"]
        return "\n".join(failed) if failed or not status["tasks"] else "RUNNING"

    def ask(self, method: str, what: str, body: object = None) -> Any:
        """One call of the worker's interface about its connectors; None where it has nothing to say."""
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        address = f"http://{LOOPBACK}:{self.port}/connectors/{what}"
        request = urllib.request.Request(address, sent, headers, method=method)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - as above
            found = answer.read()
        return json.loads(found) if found else None

    def start_again(self) -> None:
        """After `server` was stopped or killed; returns at once."""
        self.server = start("Kafka Connect", self.command, self.directory)

    def wait_until(self, state: str, *connectors: str) -> None:
        """Until these connectors, or all, are in that state."""
        wanted = connectors or self.connectors
        self.server.wait_until(lambda: all(self.state(one) == state for one in wanted), _START_TIMEOUT_SECONDS)


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
    command = [*java, str(worker), *map(str, files)]
    server = start("Kafka Connect", command, directory)
    running = Connect(port, tuple(map(topic_of, instances)), command, directory, server)
    try:
        running.wait_until("RUNNING")
        yield running
    finally:
        running.server.stop()


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

"""A Kafka broker in KRaft mode: one process as broker and controller, without retention."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tidemark.console.servers.server_process import ServerProcess, run, start_listening
from tidemark.system.files import private_directory
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from tidemark.console.servers.jars import Jars

_START_TIMEOUT_SECONDS = 90.0
_TOPIC_TIMEOUT_SECONDS = 30.0


@dataclass
class Kafka:
    """A running broker; after a restart it has the same port and log."""

    port: int
    properties: Path
    command: list[str]
    server: ServerProcess

    @property
    def bootstrap_servers(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def create_topic(self, name: str, partitions: int = 1, config: dict[str, str] | None = None) -> None:
        """Create a topic and wait until the broker has it from its controller."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 3})
        for created in admin.create_topics([NewTopic(name, partitions, 1, config=config or {})]).values():
            created.result(30)
        wanted = TopicCollection([name])
        self.server.wait_until(lambda: _is_there(admin.describe_topics(wanted)[name]), _TOPIC_TIMEOUT_SECONDS)

    def ensure_topic(self, name: str) -> None:
        """Create a topic with one partition if it does not exist."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 3})
        if name not in admin.list_topics(timeout=_TOPIC_TIMEOUT_SECONDS).topics:
            self.create_topic(name)

    def start_again(self) -> None:
        """Start again after `server` was stopped or killed."""
        self.server = start_listening("Kafka", self.command, self.properties.parent, self.port, _START_TIMEOUT_SECONDS)


def _is_there(described: Future[object]) -> bool:
    try:
        described.result(_TOPIC_TIMEOUT_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise
        return False
    return True


@contextmanager
def kafka(jars: Jars, directory: Path, port: int = 0) -> Iterator[Kafka]:
    """Start a broker with its log in `directory`, and stop it at the end; port 0 takes a free one."""
    port, controller_port = port or free_port(), free_port()
    private_directory(directory)
    properties = directory / "server.properties"
    properties.write_text(lines(settings(directory / "log", port, controller_port)))
    java = ["java", "-Xmx512m", "-Dlog4j2.level=WARN", "-cp", jars.classpath]
    if not (directory / "log" / "meta.properties").exists():
        cluster = uuid.uuid4().hex[:22]
        run("Kafka", [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)], directory)
    command = [*java, "kafka.Kafka", str(properties)]
    server = start_listening("Kafka", command, properties.parent, port, _START_TIMEOUT_SECONDS)
    running = Kafka(port, properties, command, server)
    try:
        yield running
    finally:
        running.server.stop()


def settings(log: Path, port: int, controller_port: int) -> dict[str, str]:
    """The broker's server.properties."""
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller_port}",
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(log),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # Simulated days are in the past: retention by time would drop them at once.
        "log.retention.ms": "-1",
        "log.retention.bytes": "-1",
        "auto.create.topics.enable": "false",
    }


def lines(properties: Mapping[str, str]) -> str:
    """The text of a .properties file."""
    return "".join(f"{name}={value}\n" for name, value in properties.items())

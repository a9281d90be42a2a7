"""Kafka Connect (standalone) with Debezium's MariaDB connector.

All records of an instance go into one topic with one partition, so that offsets follow the binlog: rows, heartbeats and
schema changes.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from tidemark.capture.initial_load.signal_table import TABLE as SIGNAL
from tidemark.capture.source_table import topic_of
from tidemark.console.servers import mariadb
from tidemark.console.servers.kafka import lines
from tidemark.console.servers.server_process import ServerProcess, start
from tidemark.strict_json import json_text
from tidemark.system.files import private_directory
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tidemark.console.servers.jars import Jars
    from tidemark.console.servers.kafka import Kafka

SnapshotMode = Literal["never", "no_data"]
PASSWORD_VARIABLE: Final = "TIDEMARK_CAPTURE_PASSWORD"  # noqa: S105 - its name
"""The variable with the database password of a connector. No file and no answer of the worker has it.

`_<INSTANCE>` is appended if instances have different passwords. The worker reads no other variable.
"""
_START_TIMEOUT_SECONDS = 120.0
_ANSWER_SECONDS = 90.0


@dataclass
class Connect:
    """A running Kafka Connect worker with one connector for each instance.

    After a restart it continues from its file of offsets, which is at most a second old.
    """

    port: int
    connectors: tuple[str, ...]
    command: list[str]
    directory: Path
    server: ServerProcess
    secret: Mapping[str, str] = field(repr=False)

    def state(self, connector: str) -> str:
        """RUNNING if the connector and its task run; otherwise the state and the trace of the failure."""
        try:
            status = self.ask("GET", f"{connector}/status")
        except (urllib.error.URLError, ConnectionError, TimeoutError) as unreachable:
            return f"UNREACHABLE: {unreachable}"
        parts = [status["connector"], *status["tasks"]]
        failed = [part.get("trace", part["state"]) for part in parts if part["state"] != "RUNNING"]
        return "\n".join(failed) if failed or not status["tasks"] else "RUNNING"

    def ask(self, method: str, what: str, body: object = None) -> Any:
        """One call of the worker's interface; None for an empty answer."""
        sent = None if body is None else json_text(body).encode()
        headers = {"Content-Type": "application/json"}
        address = f"http://{LOOPBACK}:{self.port}/connectors/{what}"
        request = urllib.request.Request(address, sent, headers, method=method)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - as above
            content = answer.read()
        return json.loads(content) if content else None

    def start_again(self) -> None:
        """Start again after `server` was stopped or killed; returns at once."""
        self.server = start("Kafka Connect", self.command, self.directory, self.secret)

    def configure(self, connector: str, changes: Mapping[str, str]) -> None:
        """Change settings of a connector, which then restarts; they also apply after a restart of the worker."""
        settings = {**self.ask("GET", f"{connector}/config"), **changes}
        (self.directory / f"{connector}.properties").write_text(lines(settings))
        self.ask("PUT", f"{connector}/config", settings)

    def wait_until(self, state: str, *connectors: str) -> None:
        """Wait until these connectors, or all, have this state."""
        wanted = connectors or self.connectors
        self.server.wait_until(
            lambda: all(self.state(connector) == state for connector in wanted), _START_TIMEOUT_SECONDS
        )


@dataclass(frozen=True)
class CapturedDatabase:
    """A database of an instance for one connector; `server_id` is the connector's id as a replica."""

    instance: str
    host: str
    port: int
    server_id: int
    database: str
    password_variable: str = PASSWORD_VARIABLE


@contextmanager
def connect(
    jars: Jars,
    kafka: Kafka,
    instances: Sequence[mariadb.MariaDb],
    database: str,
    directory: Path,
    *,
    port: int = 0,
    snapshot_mode: SnapshotMode = "never",
    others: Mapping[str, str] | None = None,
    with_loads: bool = False,
) -> Iterator[Connect]:
    """Start a worker that captures `database` of each instance, or continue in the same directory.

    With `never` it begins with the first binlog record; with `no_data` it begins now, and signals start the initial
    load. `with_loads` allows signals in other modes too. `others` are further settings of the connectors.
    """
    port = port or free_port()
    private_directory(directory)
    worker = directory / "worker.properties"
    worker.write_text(lines(worker_settings(kafka.bootstrap_servers, LOOPBACK, port, jars.plugins, directory)))
    files = [directory / f"{topic_of(instance.name)}.properties" for instance in instances]
    for file, instance in zip(files, instances, strict=True):
        kafka.ensure_topic(topic_of(instance.name))
        wanted = connector_settings(kafka.bootstrap_servers, _source(instance, database), snapshot_mode)
        loads = load_settings(topic_of(instance.name), database) if with_loads else {}
        file.write_text(lines({**wanted, **loads, **(others or {})}))
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    java = ["java", "-Xmx768m", "-Dlog4j2.level=WARN", "-cp", jars.classpath, main]
    secret = {_password_variable(instance.name): instance.password for instance in instances}
    command = [*java, str(worker), *map(str, files)]
    server = start("Kafka Connect", command, directory, secret)
    running = Connect(
        port, tuple(topic_of(instance.name) for instance in instances), command, directory, server, secret
    )
    try:
        running.wait_until("RUNNING")
        yield running
    finally:
        running.server.stop()


def _source(instance: mariadb.MariaDb, database: str) -> CapturedDatabase:
    server_id, variable = 1000 + instance.server_id, _password_variable(instance.name)
    return CapturedDatabase(instance.name, LOOPBACK, instance.port, server_id, database, variable)


def _password_variable(instance: str) -> str:
    return f"{PASSWORD_VARIABLE}_{re.sub('[^A-Z0-9]', '_', instance.upper())}"


def worker_settings(servers: str, host: str, port: int, plugins: Path, directory: Path) -> dict[str, str]:
    """The worker's properties: JSON without schemas, offsets in a file of `directory`, passwords by environment."""
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    return {
        "bootstrap.servers": servers,
        "key.converter": json_converter,
        "key.converter.schemas.enable": "false",
        "value.converter": json_converter,
        "value.converter.schemas.enable": "false",
        # The default (true) turns a NULL in a column with a DEFAULT into that default.
        "value.converter.replace.null.with.default": "false",
        "offset.storage.file.filename": str(directory / "offsets"),
        "offset.flush.interval.ms": "1000",
        "plugin.path": str(plugins),
        "plugin.discovery": "service_load",
        "listeners": f"HTTP://{host}:{port}",
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": f"{PASSWORD_VARIABLE}(_[A-Z0-9_]+)?",
    }


def connector_settings(servers: str, source: CapturedDatabase, snapshot_mode: SnapshotMode) -> dict[str, str]:
    """A connector's properties: all records of the instance in one topic, in the forms that capture reads."""
    topic = topic_of(source.instance)
    loads = load_settings(topic, source.database) if snapshot_mode == "no_data" else {}
    return {
        "name": topic,
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "tasks.max": "1",
        # If the topic does not exist yet: one partition, without expiry.
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.cleanup.policy": "delete",
        "topic.prefix": topic,
        "database.hostname": source.host,
        "database.port": str(source.port),
        "database.user": mariadb.USER,
        "database.password": f"${{env:{source.password_variable}}}",
        "database.server.id": str(source.server_id),
        "database.ssl.mode": "disable",
        "database.include.list": source.database,
        "include.schema.changes": "true",
        # The default (t) drops every TRUNCATE.
        "skipped.operations": "none",
        # Detects a lost server: with the default (60000), changes wait up to two minutes after a restart.
        "connect.keep.alive.interval.ms": "10000",
        "decimal.handling.mode": "string",
        # The default (true) turns the year 0001 into 2001.
        "enable.time.adjuster": "false",
        "snapshot.mode": snapshot_mode,
        "schema.history.internal.kafka.bootstrap.servers": servers,
        "schema.history.internal.kafka.topic": f"schema-history.{source.instance}",
        "transforms": "one_topic",
        "transforms.one_topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.one_topic.regex": f"{topic.replace('.', '[.]')}([.].*)?",
        "transforms.one_topic.replacement": topic,
        **loads,
    }


def load_settings(topic: str, database: str) -> dict[str, str]:
    """Settings that let signals start an initial load, and report its end in the same topic."""
    return {
        "signal.data.collection": f"{database}.{SIGNAL}",
        # As text, the driver's default, the server sends only six digits of a FLOAT.
        "driver.useServerPrepStmts": "true",
        "incremental.snapshot.watermarking.strategy": "INSERT_DELETE",
        "notification.enabled.channels": "sink",
        "notification.sink.topic.name": f"{topic}.notification",
    }

"""The servers of the chain: two databases, Kafka, and Debezium on Kafka Connect."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.console.cdc_demo.sql_replay import DATABASE
from tidemark.console.preflight.port import free_or
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import Kafka, kafka
from tidemark.console.servers.kafka_connect import Connect, connect
from tidemark.console.servers.mariadb import MariaDb, mariadb
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidemark.console.servers.server_process import ServerProcess

INSTANCES: Final = {"a": 3311, "b": 3312}
_KAFKA_PORT: Final = 9092
_CONNECT_PORT: Final = 8083


@dataclass(frozen=True)
class Servers:
    """All servers, running."""

    databases: tuple[MariaDb, ...]
    kafka: Kafka
    connect: Connect

    @property
    def processes(self) -> tuple[ServerProcess, ...]:
        return (*(database.server for database in self.databases), self.kafka.server, self.connect.server)


@contextmanager
def servers(directory: Path, say: Callable[[str], None]) -> Iterator[Servers]:
    """Start the servers with their data in `directory`, where the next start finds it; stop them at the end.

    Each listens on its usual port of the loopback interface, or on a free one. Raises ComponentMissingError,
    ComponentFailedError.
    """
    with ExitStack() as stack:
        say("starting MariaDB, two instances")
        databases = tuple(
            stack.enter_context(mariadb(name, number, directory / name, port=free_or(LOOPBACK, port)))
            for number, (name, port) in enumerate(INSTANCES.items(), 1)
        )
        say("starting Kafka (its jars are fetched the first time)")
        broker = stack.enter_context(kafka(jars(), directory / "kafka", free_or(LOOPBACK, _KAFKA_PORT)))
        say("starting Kafka Connect with Debezium")
        port = free_or(LOOPBACK, _CONNECT_PORT)
        worker = connect(jars(), broker, databases, DATABASE, directory / "connect", port=port)
        yield Servers(databases, broker, stack.enter_context(worker))

"""The whole capture: two source instances, the oracle's replica, Kafka, and Debezium on Kafka Connect."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.components.oracle.ask import REPLICA_OPTIONS
from tests.components.workload.schema import DATABASE, INSTANCES
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import Kafka, kafka
from tidemark.console.servers.kafka_connect import connect
from tidemark.console.servers.mariadb import MariaDb, mariadb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Stack:
    """Running servers; everything that is written to the sources arrives in Kafka and in the replica."""

    sources: tuple[MariaDb, ...]
    replica: MariaDb
    kafka: Kafka


@contextmanager
def capture_stack(directory: Path, progress: Callable[[str], None]) -> Iterator[Stack]:
    """Start everything in `directory`, stop everything in the end."""
    with ExitStack() as stack:
        progress("starting MariaDB (two instances, one replica)")
        sources = tuple(
            stack.enter_context(mariadb(name, number, directory / name))
            for number, name in enumerate(INSTANCES, start=1)
        )
        replica = stack.enter_context(mariadb("oracle", 9, directory / "oracle", *REPLICA_OPTIONS))
        progress("starting Kafka")
        broker = stack.enter_context(kafka(jars(), directory / "kafka"))
        progress("starting Kafka Connect with Debezium")
        stack.enter_context(connect(jars(), broker, sources, DATABASE, directory / "connect"))
        yield Stack(sources, replica, broker)

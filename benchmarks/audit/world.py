"""A MariaDB server whose changes come into a warehouse by Debezium, Kafka and the capture, and an audit of both."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Self

from benchmarks.audit.audited_table import CREATE, DATABASE, ODS, TABLE, is_spoiled
from benchmarks.capture.world import CapturedWarehouse
from tidemark.capture.audit.audit import SourceAudit
from tidemark.capture.audit.pace import AuditPace
from tidemark.capture.audit.source_reader import SourceReader
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.heartbeat.writer import write_heartbeat
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka
from tidemark.console.servers.kafka_connect import connect
from tidemark.console.servers.mariadb import USER, mariadb
from tidemark.spark.session import spark_session
from tidemark.state_store.database import Database
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.console.servers.mariadb import MariaDb
    from tidemark.system.settings import Settings

_STEP_SECONDS: Final = 5.0
_BEGIN_SECONDS: Final = 180.0
_YESTERDAY: Final = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
SOURCE: Final = SourceTable(ODS, f"{DATABASE}.{TABLE}", ("a",), ("order_id",), None, ((ODS, "day", _YESTERDAY),))


@dataclass
class AuditedWorld:
    """Running servers and the capture; `changes` are those that it has merged in `captured`."""

    server: MariaDb
    warehouse: CapturedWarehouse
    database: HeartbeatDatabase
    changes: int = 0
    problems: list[BaseException] = field(default_factory=list)

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator[Self]:
        """A server with the database and nothing in it, and a connector that sends its changes."""
        with ExitStack() as stack:
            server = stack.enter_context(mariadb("a", 1, folder / "a", "--innodb-buffer-pool-size=1G"))
            with server.connect() as session, session.cursor() as sql:
                sql.execute(f"CREATE DATABASE {DATABASE}")
            broker = stack.enter_context(kafka(jars(), folder / "kafka"))
            stack.enter_context(connect(jars(), broker, [server], DATABASE, folder / "connect"))
            warehouse = CapturedWarehouse.at(folder / "data", broker.bootstrap_servers, [SOURCE])
            address = HeartbeatDatabase("a", LOOPBACK, server.port, DATABASE, USER, server.password)
            yield cls(server, warehouse, address)

    @property
    def settings(self) -> Settings:
        return self.warehouse.settings

    @property
    def spark(self) -> SparkSession:
        return spark_session(self.settings)

    @property
    def pid(self) -> int:
        """The server's process."""
        return self.server.server.process.pid

    def begin(self) -> None:
        """The table is made, and its first row captured: so is the Delta table."""
        with self.server.connect(DATABASE) as session, session.cursor() as sql:
            sql.execute(CREATE)
            sql.execute(f"INSERT INTO {TABLE} VALUES (0, 0, 0, 0, 0, 'first', '2026-01-01', NULL)")  # noqa: S608 - our name
        deadline = time.monotonic() + _BEGIN_SECONDS
        while last_commit(self.settings.warehouse / ODS) is None:
            if time.monotonic() > deadline:
                raise RuntimeError("the first change did not arrive")
            self.step()

    def step(self) -> None:
        """A heartbeat, and what the capture makes of what there is."""
        write_heartbeat(self.database, datetime.now(UTC))
        self.changes += sum(self.warehouse.ingestion.step().changes.values())

    def audit(self, share: float) -> tuple[SourceAudit, SourceReader]:
        """One with a session of its own at the source."""
        reader = SourceReader(self.database)
        intake, pace = KafkaIntake.of(self.settings), AuditPace(share, None, time.monotonic)
        return SourceAudit(
            self.spark, self.settings, [SOURCE], {"a": reader}, intake, pace, Database.of(self.settings)
        ), reader

    @contextmanager
    def captured(self) -> Iterator[None]:
        """The capture takes a step every few seconds; what stops it is raised in the end."""
        with self._repeated(self.step, _STEP_SECONDS):
            yield

    @contextmanager
    def life(self, rows: int, every: int, rate: int) -> Iterator[None]:
        """`rate` changes a second of rows that are not spoiled, a tenth of them on ten rows that come and go."""
        chance = random.Random(3)
        with self.server.connect(DATABASE) as session, session.cursor() as sql:

            def change() -> None:
                key = chance.randrange(10) + 1 if chance.random() < 0.1 else chance.randrange(1, rows + rows // 100)
                if is_spoiled(key, every):
                    return
                if chance.random() < 0.3:
                    sql.execute(f"DELETE FROM {TABLE} WHERE order_id = {key}")  # noqa: S608 - a number
                    return
                values = f"{key}, 1, NULL, {chance.randrange(3)}.50, 1, 'changed', '2026-02-01', NULL"
                sql.execute(f"REPLACE INTO {TABLE} VALUES ({values})")  # noqa: S608 - numbers

            with self._repeated(change, 1 / rate):
                yield

    @contextmanager
    def _repeated(self, act: Callable[[], None], seconds: float) -> Iterator[None]:
        end = threading.Event()

        def run() -> None:
            due = time.monotonic()
            try:
                while not end.is_set():
                    act()
                    due = max(due + seconds, time.monotonic() - 1.0)
                    end.wait(max(0.0, due - time.monotonic()))
            except BaseException as problem:  # noqa: BLE001 - the boundary of a thread: it is raised below
                self.problems.append(problem)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
        if self.problems:
            raise self.problems[0]

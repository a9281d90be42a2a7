"""Writes the story on both instances, asks them at each hour's end what they hold, and goes on when a server died."""

from __future__ import annotations

import time
from contextlib import ExitStack
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Final, Self, TypeVar

import pymysql

from tests.components.chain.statements import Statement, Statements, alterations
from tests.components.chain.story import STEP, Injection, Story
from tests.components.chain.tables import DATABASE, TABLES
from tests.components.chain.truth import Content, keep, stored_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pymysql.cursors import Cursor

    from tidemark.console.servers.mariadb import MariaDb

_AGAIN_SECONDS: Final = 0.2
_HEARTBEAT: Final = (
    "CREATE TABLE heartbeat (id INT PRIMARY KEY, beat_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3))"
)
Answer = TypeVar("Answer")


class Sessions:
    """One on each instance, made anew when it was lost."""

    def __init__(self, servers: Mapping[str, MariaDb]) -> None:
        self._servers = servers
        self._open: dict[str, pymysql.Connection[Cursor]] = {}

    def execute(self, instance: str, sql: str) -> list[int]:
        """Several statements in one go, and how many rows the server says that each changed.

        Raises MySQLError; the next call has a session again, if there is a server.
        """
        try:
            with self._session(instance).cursor() as cursor:
                cursor.execute(sql)
                counts = [cursor.rowcount]
                while cursor.nextset():
                    counts.append(cursor.rowcount)
                return counts
        except (pymysql.err.MySQLError, OSError):
            self._open.pop(instance, None)
            raise

    def contents(self) -> dict[str, Content]:
        """What each logical table holds now. Raises MySQLError."""
        try:
            with ExitStack() as stack:
                cursors = {name: stack.enter_context(self._session(name).cursor()) for name in self._servers}
                return {table.name: stored_rows(cursors, table) for table in TABLES}
        except (pymysql.err.MySQLError, OSError):
            self._open.clear()
            raise

    def _session(self, instance: str) -> pymysql.Connection[Cursor]:
        if instance not in self._open:
            self._open[instance] = self._servers[instance].connect(DATABASE)
        return self._open[instance]


class Writer:
    """A thread that writes at most `rate` changes a second; injections that are due go into a queue.

    It waits while the queue is full, so that all of them come while it writes.
    """

    def __init__(self, story: Story, servers: Mapping[str, MariaDb], folder: Path, rate: float) -> None:
        self.due: Queue[Injection | None] = Queue(maxsize=1)
        self.written = 0
        self.step = 0
        self.lost = 0
        self.failure: BaseException | None = None
        self._story, self._folder, self._rate = story, folder, rate
        self._sessions = Sessions(servers)
        self._statements = {name: Statements(f"{story.seed} {name}") for name in servers}
        self._begun = time.monotonic()
        self._thread = Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> Self:
        self._thread.start()
        return self

    def truth(self, table: str, slice_key: str) -> Path:
        """Where the database's answer is kept."""
        return self._folder / table / f"{slice_key}.pickle"

    def now(self) -> dict[str, Content]:
        """What the tables hold now."""
        return self._until(self._sessions.contents)

    def _run(self) -> None:
        try:
            self._write()
        except BaseException as failure:  # noqa: BLE001 - told by whoever waits for the thread
            self.failure = failure
        self.due.put(None)

    def _write(self) -> None:
        injections = list(self._story.injections)
        for step in range(self._story.steps):
            self.step = step
            self._ask(self._story.hour(step))
            self._beat(self._story.at(step))
            if step == self._story.steps // 2:
                self._alter()
            while injections and injections[0].step == step:
                self.due.put(injections.pop(0))
            self._changes(self._story.changes * (step + 1) // self._story.steps)
        self._beat(self._story.at(self._story.steps))

    def _ask(self, slice_key: str | None) -> None:
        """Everything before the hour's end is written, and nothing after it."""
        if slice_key is not None:
            for name, content in self.now().items():
                keep(content, self.truth(name, slice_key))

    def _beat(self, at: int) -> None:
        beat = f"INSERT INTO heartbeat VALUES (1, FROM_UNIXTIME({at}))"  # noqa: S608 - a number
        sql = f"SET TIMESTAMP = {at}; {beat} ON DUPLICATE KEY UPDATE beat_at = VALUES(beat_at)"
        for name in self._statements:
            self._until(lambda name=name: self._sessions.execute(name, sql))  # type: ignore[misc]

    def _alter(self) -> None:
        for name, statements in self._statements.items():
            for sql in alterations():
                # Of one that the server did and did not answer, nothing is left to do.
                changed = f"SET TIMESTAMP = {self._story.at(self.step)}; {sql}"
                self._until(lambda name=name, changed=changed: self._sessions.execute(name, changed))  # type: ignore[misc]
            statements.altered = True

    def _changes(self, until: int) -> None:
        begun, first = self.written, self._story.at(self.step)
        while self.written < until:
            at = first + (self.written - begun) * STEP // max(1, until - begun)
            for name, statements in self._statements.items():
                self._transaction(name, statements.transaction(at), at)
            self._pace()

    def _transaction(self, instance: str, made: list[Statement], at: int) -> None:
        begin, end = (f"SET TIMESTAMP = {at}", "BEGIN"), ("COMMIT",)
        try:
            counts = self._sessions.execute(instance, "; ".join([*begin, *(statement.sql for statement in made), *end]))
        except (pymysql.err.MySQLError, OSError):
            # Nobody knows whether it was done; the database will say.
            self.lost += 1
            time.sleep(_AGAIN_SECONDS)
            return
        for statement, count in zip(made, counts[len(begin) :], strict=False):
            self.written += count * statement.per_row if statement.changes is None else statement.changes

    def _pace(self) -> None:
        """Real time: whoever reads it is a real chain."""
        ahead = self.written / self._rate - (time.monotonic() - self._begun)
        if ahead > 0:
            time.sleep(min(ahead, 1.0))
        else:
            # What was waited for is not made up by a flood.
            self._begun -= min(0.0, ahead + 1.0)

    def _until(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError):
                time.sleep(_AGAIN_SECONDS)


def declare(servers: Mapping[str, MariaDb], at: int) -> None:
    """The tables, before anything reads the binlogs."""
    created = [sql for table in TABLES for sql in table.create]
    for server in servers.values():
        with server.connect() as session, session.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE}; USE {DATABASE}")
            while cursor.nextset():
                pass
            for sql in (f"SET TIMESTAMP = {at}", _HEARTBEAT, *created):
                cursor.execute(sql)

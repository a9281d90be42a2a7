"""Writes the story on both instances, asks them at each hour's end what they hold, and goes on when a server died."""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import ExitStack
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Self, TypeVar

import pymysql

from tests.components.chain.statements import Statement, Statements, alterations
from tests.components.chain.story import STEP, Injection, Story
from tests.components.chain.story_clock import CLOCK, clock
from tests.components.chain.tables import DATABASE, ChainTable
from tests.components.chain.truth import Content, keep, stored_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pymysql.cursors import Cursor

    from tidemark.console.servers.mariadb import MariaDb

_AGAIN_SECONDS: Final = 0.2
_TICK_SECONDS: Final = 0.02
_BESIDE_SECONDS: Final = 4.0
_HEARTBEAT: Final = (
    "CREATE TABLE heartbeat (id INT PRIMARY KEY, beat_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3))"
)
Answer = TypeVar("Answer")


class Sessions:
    """One on each instance, made anew when it was lost."""

    def __init__(self, servers: Mapping[str, MariaDb], tables: Sequence[ChainTable]) -> None:
        self._servers, self._tables = servers, tables
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
                return {table.name: stored_rows(cursors, table) for table in self._tables}
        except (pymysql.err.MySQLError, OSError):
            self._open.clear()
            raise

    def _session(self, instance: str) -> pymysql.Connection[Cursor]:
        if instance not in self._open:
            self._open[instance] = self._servers[instance].connect(DATABASE)
        return self._open[instance]


class Writer:
    """A thread that writes at most `rate` changes a second; injections that are due go into a queue.

    It waits while the queue is full, so that all of them come while it writes. `tables` may change meanwhile.
    """

    def __init__(
        self, story: Story, servers: Mapping[str, MariaDb], folder: Path, rate: float, tables: Sequence[ChainTable]
    ) -> None:
        self.due: Queue[Injection | None] = Queue(maxsize=1)
        self.tables = list(tables)
        self.at = story.at(0)
        self.written = 0
        self.step = 0
        self.lost = 0
        self._beside = 0
        self._is_over = Event()
        self.failure: BaseException | None = None
        self._story, self._folder, self._rate = story, folder, rate
        self._sessions = Sessions(servers, self.tables)
        self.statements = {name: Statements(f"{story.seed} {name}", tables) for name in servers}
        self._asked: Queue[tuple[Callable[[Sessions, int], object], Future[object]]] = Queue()
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
        return self.between(lambda sessions, _: sessions.contents())

    def between(self, ask: Callable[[Sessions, int], Answer]) -> Answer:
        """What `ask` answers, between two transactions of the story, at the instant (epoch seconds) it has come to."""
        future: Future[object] = Future()
        self._asked.put((ask, future))
        while not future.done():
            if not self._thread.is_alive():
                self._answer()
            time.sleep(_TICK_SECONDS)
        answer: Answer = future.result()  # type: ignore[assignment]  # of what was asked
        return answer

    def beat(self, ahead: int = 0) -> None:
        """A heartbeat now; its writer's clock may be so many seconds ahead. Inside of `between` alone."""
        self._beat(self.at, ahead)

    def _answer(self) -> None:
        while not self._asked.empty():
            ask, future = self._asked.get()
            try:
                future.set_result(self._until(lambda ask=ask: ask(self._sessions, self.at)))  # type: ignore[misc]
            except Exception as failure:  # noqa: BLE001 - told by whoever asked
                future.set_exception(failure)

    def _offer(self, injection: Injection | None) -> None:
        while True:
            try:
                self.due.put(injection, timeout=_BESIDE_SECONDS)
            except Full:
                # Changes go on while somebody waits for the capture.
                self._answer()
                self._beat(self.at)
                before = self.written
                for name, statements in self.statements.items():
                    self._transaction(name, statements.transaction(self.at), self.at)
                self._beside += self.written - before
            else:
                return

    def _run(self) -> None:
        try:
            self._write()
        except BaseException as failure:  # noqa: BLE001 - told by whoever waits for the thread
            self.failure = failure
        self._offer(None)
        # Nothing is written any more; that the servers are there is said still.
        while not self._is_over.wait(_BESIDE_SECONDS):
            self._answer()
            self._beat(self.at)

    def end(self) -> None:
        """No more heartbeats."""
        self._is_over.set()
        self._thread.join()

    def _write(self) -> None:
        injections = list(self._story.injections)
        for step in range(self._story.steps):
            self.step, self.at = step, self._story.at(step)
            self._ask(self._story.hour(step))
            self._beat(self._story.at(step))
            if step == self._story.steps // 2:
                self._alter()
            while injections and injections[0].step == step:
                self._offer(injections.pop(0))
            self._changes(self._story.changes * (step + 1) // self._story.steps)
        self.at = self._story.at(self._story.steps)
        self._beat(self.at)

    def _ask(self, slice_key: str | None) -> None:
        """Everything before the hour's end is written, and nothing after it."""
        if slice_key is not None:
            for name, content in self._until(self._sessions.contents).items():
                keep(content, self.truth(name, slice_key))

    def _beat(self, at: int, ahead: int = 0) -> None:
        beat = f"INSERT INTO heartbeat VALUES (1, FROM_UNIXTIME({at + ahead}))"  # noqa: S608 - a number
        sql = (
            f"SET TIMESTAMP = {at}; REPLACE INTO {CLOCK} VALUES (1, {at}); "  # noqa: S608 - a number
            f"{beat} ON DUPLICATE KEY UPDATE beat_at = VALUES(beat_at)"
        )
        for name in self.statements:
            self._until(lambda name=name: self._sessions.execute(name, sql))  # type: ignore[misc]

    def _alter(self) -> None:
        for name, statements in self.statements.items():
            for sql in alterations():
                # Of one that the server did and did not answer, nothing is left to do.
                changed = f"SET TIMESTAMP = {self._story.at(self.step)}; {sql}"
                self._until(lambda name=name, changed=changed: self._sessions.execute(name, changed))  # type: ignore[misc]
            statements.altered = True

    def _changes(self, until: int) -> None:
        begun, first = self.written - self._beside, self._story.at(self.step)
        while self.written - self._beside < until:
            self._answer()
            self.at = at = first + min(STEP - 1, (self.written - self._beside - begun) * STEP // max(1, until - begun))
            for name, statements in self.statements.items():
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


def declare(servers: Mapping[str, MariaDb], at: int, tables: Sequence[ChainTable]) -> None:
    """The tables, before anything reads the binlogs, and what gives everything that is written the story's time."""
    created = [sql for table in tables for sql in table.create]
    for server in servers.values():
        with server.connect() as session, session.cursor() as cursor:
            # A first transaction that is newer than all of the story looks like a log that began anew, sent again.
            dated = (f"SET TIMESTAMP = {at}", f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}")
            for sql in (*dated, *clock(at, server.password), _HEARTBEAT, *created):
                cursor.execute(sql)

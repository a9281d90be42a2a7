"""The one database of the state store: a SQLite file, or PostgreSQL by URL. Everything is written in one transaction.

Writers take turns (SQLite's write lock; an advisory lock in PostgreSQL), so that numbers of transitions are in the
order in which they become visible, and a reader that has seen one has seen all before it.
"""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from tidemark.state_store.driver_errors import translated
from tidemark.state_store.errors import StateDiskError, StateSettingError
from tidemark.state_store.lost_file import make_file, require_not_emptied
from tidemark.state_store.migrations import migrate
from tidemark.state_store.sqlite_file import sqlite_file
from tidemark.system.masked_urls import POSTGRESQL, masked_url, read_url, without_secrets
from tidemark.system.network_disks import network_disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from tidemark.state_store.bulk_write import BulkStatement
    from tidemark.system.settings import Settings

_WRITERS: Final = 7_108_451
"""The advisory lock that writers take turns by: any number that nobody else uses."""
_WAIT_SECONDS: Final = 30
_DRIVERS: Final = ("sqlite", POSTGRESQL)


class Database:
    """Opened and up to date. Safe between threads and between processes.

    Raises StateSettingError for a URL that no store has, StateDiskError for a file on a network disk,
    StateStoreDownError where nothing answers, StateStoreDamagedError for a file that SQLite cannot read.
    """

    def __init__(self, url: str | URL) -> None:
        try:
            self.url = read_url(url, _DRIVERS)
        except ValueError as error:
            raise StateSettingError.of(str(error)) from None
        _restrict_to_owner(self.url)
        _refuse_network_disk(self.url)
        self.engine = _engine(self.url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        # The driver's own errors too: what fails while a connection is given back is not wrapped.
        self._driver = self.engine.dialect.loaded_dbapi
        try:
            with self.writing() as connection:
                migrate(connection, self.where)
        except ProgrammingError as error:
            self.engine.dispose()
            if getattr(error.orig, "pgcode", None):
                raise
            # The driver itself refuses the URL: nobody was asked yet.
            raise StateSettingError.of(self.where, without_secrets(str(error.orig), self.url)) from None
        except BaseException:
            self.engine.dispose()
            raise

    @classmethod
    def at(cls, file: Path) -> Self:
        """The SQLite file, created where it is missing."""
        return cls(URL.create("sqlite", database=str(file)))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The one that the settings name: `state` where it is a URL, else the file `state_db`.

        Raises StateStoreDamagedError for an empty file where the lake has tables; a missing one is made again.
        """
        if settings.state:
            return cls(settings.state)
        require_not_emptied(settings)
        return cls.at(settings.state_db)

    @property
    def where(self) -> str:
        """The database for people: with what is secret in the URL masked."""
        return masked_url(self.url)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction of one writer: committed at its end, or nothing is there. Raises StateStoreDownError."""
        with self._translating_errors(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execution_options(isolation_level="READ COMMITTED")
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _WRITERS})
            yield connection
            connection.commit()

    def write_at_once(self, statements: Iterable[BulkStatement]) -> None:
        """One transaction of one writer in a single round trip to PostgreSQL. Raises StateStoreDownError.

        A server that is busy, or far away, lets each round trip wait. What is sent as one text is one transaction.
        """
        texts, values = [f"SELECT pg_advisory_xact_lock({_WRITERS})"], list[Any]()
        for statement in statements:
            texts.append(statement.text)
            values.extend(statement.values)
        with self.reading() as connection:
            connection.exec_driver_sql(";\n".join(texts), tuple(values))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Each statement by itself sees what is committed, in one round trip. Raises StateStoreDownError."""
        with self._translating_errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def at_one_instant(self) -> Iterator[Connection]:
        """All statements see the state of the same instant. Raises StateStoreDownError."""
        with self._translating_errors(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise our error for the driver's where it says something of the database; reconnect after that."""
        try:
            yield
        except (DBAPIError, self._driver.Error) as error:
            ours = translated(error, self.url, self._driver)
            if ours is None:
                raise
            self.engine.dispose()
            raise ours from error


def _refuse_network_disk(url: URL) -> None:
    file = sqlite_file(url)
    disk = network_disk(file) if file is not None else None
    if disk is not None:
        raise StateDiskError.of(str(file), disk)


def _restrict_to_owner(url: URL) -> None:
    """A new SQLite file is its owner's alone, and so are those that SQLite makes beside it."""
    file = sqlite_file(url)
    if file is not None:
        with suppress(OSError, sqlite3.Error):  # what cannot be opened, SQLite says itself
            make_file(file)


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        # AUTOCOMMIT from the start: to change it for each short statement takes as long as the statement
        connect = {"connect_timeout": url.query.get("connect_timeout", _WAIT_SECONDS)}
        return create_engine(url, pool_size=4, connect_args=connect, isolation_level="AUTOCOMMIT")
    engine = create_engine(url, connect_args={"timeout": _WAIT_SECONDS})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # BEGIN is ours: the driver would begin only at the first write
        _write_ahead(connection)
        for pragma in ("synchronous=FULL", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def _write_ahead(connection: Any) -> None:
    """Have a log written first. SQLite does not wait for others that turn a new file to it at the same time."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - so that they do not meet again
        else:
            return

"""The database of the state store: a SQLite file, or PostgreSQL by URL. Every write is one transaction.

Writers take turns (SQLite's write lock, or an advisory lock in PostgreSQL). So transitions become visible in the order
of their numbers, and a reader that has seen one has seen all earlier ones.
"""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from tidemark.state_store.errors import StateDiskError, StateSettingError, StateStoreDamagedError, StateStoreDownError
from tidemark.state_store.lost_file import make_file, require_not_emptied
from tidemark.state_store.migrations import migrate
from tidemark.state_store.sqlite_file import sqlite_file
from tidemark.system.masked_urls import POSTGRESQL, masked_url, read_url, without_secrets
from tidemark.system.network_disks import network_disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from tidemark.errors import TidemarkError
    from tidemark.state_store.bulk_write import BulkStatement
    from tidemark.system.settings import Settings

_WRITERS: Final = 7_108_451
"""The advisory lock of writers: an arbitrary number that nothing else uses."""
_WAIT_SECONDS: Final = 30
_DRIVERS: Final = ("sqlite", POSTGRESQL)


class Database:
    """An open, migrated database. Safe between threads and processes.

    Raises StateSettingError for an invalid URL, StateDiskError for a file on a network disk, StateStoreDownError if the
    server does not answer, StateStoreDamagedError for a file that SQLite cannot read.
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
        # The driver's own errors too: errors while a connection is returned are not wrapped.
        self._driver = self.engine.dialect.loaded_dbapi
        try:
            with self.writing() as connection:
                migrate(connection, self.where)
        except ProgrammingError as error:
            self.engine.dispose()
            if getattr(error.orig, "pgcode", None):
                raise
            # The driver itself refuses the URL; no server was asked.
            raise StateSettingError.of(self.where, without_secrets(str(error.orig), self.url)) from None
        except BaseException:
            self.engine.dispose()
            raise

    @classmethod
    def at(cls, file: Path) -> Self:
        """The SQLite file, created if missing."""
        return cls(URL.create("sqlite", database=str(file)))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The database in the settings: `state` if it is a URL, else the file `state_db`.

        Raises StateStoreDamagedError for an empty file while the lake has tables; creates a missing file.
        """
        if settings.state:
            return cls(settings.state)
        require_not_emptied(settings)
        return cls.at(settings.state_db)

    @property
    def where(self) -> str:
        """The database for messages, with secrets in the URL masked."""
        return masked_url(self.url)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction of one writer: committed at the end, or not at all. Raises StateStoreDownError."""
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

        A busy or remote server makes each round trip slow. All statements of one text are one transaction.
        """
        texts, values = [f"SELECT pg_advisory_xact_lock({_WRITERS})"], list[Any]()
        for statement in statements:
            texts.append(statement.text)
            values.extend(statement.values)
        with self.reading() as connection:
            connection.exec_driver_sql(";\n".join(texts), tuple(values))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Each statement separately sees committed data, in one round trip. Raises StateStoreDownError."""
        with self._translating_errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def at_one_instant(self) -> Iterator[Connection]:
        """All statements see the state of one instant. Raises StateStoreDownError."""
        with self._translating_errors(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Translate the driver's errors about the database, and reconnect afterwards."""
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
    """Let only the owner read a new SQLite file, and the other files that SQLite creates for it."""
    file = sqlite_file(url)
    if file is not None:
        with suppress(OSError, sqlite3.Error):  # SQLite itself reports a file that cannot be opened
            make_file(file)


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        # AUTOCOMMIT from the start: switching it for each short statement takes as long as the statement
        connect = {"connect_timeout": url.query.get("connect_timeout", _WAIT_SECONDS)}
        return create_engine(url, pool_size=4, connect_args=connect, isolation_level="AUTOCOMMIT")
    engine = create_engine(url, connect_args={"timeout": _WAIT_SECONDS})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        # We send BEGIN ourselves: the driver would send it only before the first write
        connection.isolation_level = None
        _write_ahead(connection)
        for pragma in ("synchronous=FULL", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def _write_ahead(connection: Any) -> None:
    """Turn on write-ahead logging. SQLite does not wait for another process that does this at the same time."""
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


_AWAY_CLASSES: Final = ("08", "25", "40", "53", "55", "57", "58")
"""Temporary SQLSTATE classes (PostgreSQL, appendix A): connection, transaction state (25006.

Read-only after a fail-over), rollback, resources, locks, shutdown, disk.
"""
_DAMAGED_STATES: Final = ("XX001", "XX002")
_DAMAGED_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNREACHABLE_CODES: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_UNREACHABLE_HINT: Final = "give this account write access to the file and its folder; nothing is lost"


def translated(error: BaseException, url: URL, driver: Any) -> TidemarkError | None:
    """StateStoreDownError, StateStoreDamagedError, or None if the statement itself is wrong.

    `error` is SQLAlchemy's or the driver's own, `driver` its module (PEP 249).
    """
    cause = getattr(error, "orig", None) or error
    state = str(getattr(cause, "pgcode", None) or "")
    code = (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _DAMAGED_CODES or state in _DAMAGED_STATES:
        return StateStoreDamagedError.of(url, error)
    if code in _UNREACHABLE_CODES:
        return StateStoreDownError.of(url, error, _UNREACHABLE_HINT)
    is_cut_off = isinstance(error, DBAPIError) and error.connection_invalidated
    is_away = isinstance(cause, (driver.OperationalError, driver.InterfaceError))
    if is_away or state[:2] in _AWAY_CLASSES or is_cut_off:
        return StateStoreDownError.of(url, error)
    return None

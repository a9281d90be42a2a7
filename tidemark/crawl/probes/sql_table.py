"""Rows of one slice in a database's table: one aggregate, values bound, read-only, with a time-out (SQLAlchemy)."""

from __future__ import annotations

import sqlite3
import time
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.crawl.watermark import by_watermark
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.quoting import mysql, standard

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import URL, Engine

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import SqlProbe

_DRIVERS: Final = {"postgresql": "postgresql+psycopg2", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}
_SQLITE_STEPS: Final = 10_000


def look(source: SqlProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See SqlProbe. Raises ProbeError, in the database's own words without a secret."""
    url = _url(context.secrets.fill(source.url))
    dialect = url.get_backend_name()
    query, values = statement(source, probed, dialect)
    try:
        engine = _engine(url, context.timeout_seconds)
        try:
            with engine.connect() as connection:
                rows, newest = connection.execute(text(query), values).one()
        finally:
            engine.dispose()
    except (SQLAlchemyError, OSError) as error:
        words = str(getattr(error, "orig", None) or error)
        raise ProbeError("the database did not answer", found=context.secrets.mask(words)[:300]) from None
    seen = Sight(is_there=rows > 0, why=f"{rows} rows", content=str(rows), rows=int(rows))
    if source.watermark is None:
        return seen
    return by_watermark(seen, source.watermark, newest, probed, context.clock()) if rows else seen


def statement(source: SqlProbe, probed: ProbedSlice, dialect: str) -> tuple[str, dict[str, Any]]:
    """The query and the values that are bound to it: count of the slice's rows, and the table's watermark.

    Raises IdentifierError for a name that the database cannot hold.
    """
    table = ".".join(_quote(part, dialect) for part in source.table.split("."))
    partition = probed.texts(source.partition)
    values: dict[str, Any] = {f"value_{number}": value for number, value in enumerate(partition.values())}
    conditions = [f"{_quote(name, dialect)} = :value_{number}" for number, name in enumerate(partition)]
    if source.time_column is not None and probed.window is not None:
        column = _quote(source.time_column, dialect)
        conditions += [f"{column} >= :window_start", f"{column} < :window_end"]
        values["window_start"] = _bound(probed.window.start, dialect)
        values["window_end"] = _bound(probed.window.end, dialect)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    watermark = "NULL"
    if source.watermark is not None:
        watermark = f"(SELECT max({_quote(source.watermark, dialect)}) FROM {table})"  # noqa: S608 - every name is quoted
    return f"SELECT count(*), {watermark} FROM {table}{where}", values  # noqa: S608 - every name is quoted, every value bound


def _quote(name: str, dialect: str) -> str:
    """The name for a text of SQLAlchemy's, where a colon begins a bound value."""
    quoted = mysql.quote(name) if dialect in ("mysql", "mariadb") else standard.quote(name, _standard(dialect))
    return quoted.replace(":", "\\:")


def _standard(dialect: str) -> standard.Dialect:
    return "sqlite" if dialect == "sqlite" else "postgresql"


def _bound(instant: datetime, dialect: str) -> object:
    """PostgreSQL knows zones; the others get UTC, as the session's clock is."""
    if dialect == "postgresql":
        return instant
    naive = instant.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(" ") if dialect == "sqlite" else naive


def _url(given: str) -> URL:
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise ProbeSettingError("a text that is no URL of a database", expected="postgresql://user@host/db") from None
    if url.get_backend_name() not in ("postgresql", "mysql", "mariadb", "sqlite"):
        raise ProbeSettingError("no probe reads that database", expected="postgresql, mysql, mariadb or sqlite")
    return url.set(drivername=_DRIVERS.get(url.get_backend_name(), url.drivername))


def _engine(url: URL, seconds: int) -> Engine:
    """Every session is read-only and on UTC, and ends its statements by itself."""
    backend = url.get_backend_name()
    if backend == "sqlite":
        return create_engine(
            "sqlite://", creator=lambda: _read_only_file(url.database or "", seconds), poolclass=NullPool
        )
    return create_engine(url, connect_args=dict(_arguments(backend, seconds)), poolclass=NullPool)


def _arguments(backend: str, seconds: int) -> Mapping[str, Any]:
    if backend == "postgresql":
        options = f"-c default_transaction_read_only=on -c statement_timeout={seconds}s -c timezone=UTC"
        return {"connect_timeout": seconds, "options": options}
    ends = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), seconds)
    return {**ends, "init_command": "SET SESSION time_zone = '+00:00', transaction_read_only = 1"}


def _read_only_file(path: str, seconds: int) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{_escape(path)}?mode=ro", uri=True, timeout=seconds, check_same_thread=False)
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > until), _SQLITE_STEPS)
    return connection


def _escape(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")

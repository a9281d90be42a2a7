"""Rows of one slice in a database table: one aggregate, values bound, read-only, with a timeout (SQLAlchemy)."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.crawl.rule_query import Figure, SourceRows, bound_mark, condition, figures_of, measured, quote_name
from tidemark.crawl.watermark import by_watermark
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import URL, Connection, Engine

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import SqlProbe

_DRIVERS: Final = {"postgresql": "postgresql+psycopg2", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}
_OF_MYSQL: Final = frozenset({"mysql", "mariadb"})
_SQLITE_STEPS: Final = 10_000


def look(source: SqlProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See SqlProbe. Raises ProbeError with the database's own message, without secrets."""
    url = database_url(context.secrets.fill(source.url))
    dialect = url.get_backend_name()
    mine = slice_rows(source, probed, dialect)
    rules = figures_of(probed.rules, mine)
    query, values = mine.query([Figure("count(*)"), _watermark(source, mine), *rules.values()])
    try:
        with session(url, context.timeout_seconds) as connection:
            rows, newest, *counted = connection.exec_driver_sql(query, values).one()
    except (SQLAlchemyError, OSError) as error:
        words = str(getattr(error, "orig", None) or error)
        raise ProbeError("the database did not answer", found=context.secrets.mask(words)[:300]) from None
    seen = Sight(is_there=rows >= source.at_least, why=f"{rows} rows", content=str(rows), rows=int(rows))
    if not seen.is_there:
        return seen
    seen = replace(seen, measured=tuple(measured(probed.rules, rules, counted, probed).items()))
    if source.watermark is None:
        return seen
    return by_watermark(seen, source.watermark, newest, probed, context.clock())


@contextmanager
def session(url: URL, seconds: int) -> Iterator[Connection]:
    """A read-only session on UTC, whose statements end after `seconds` seconds."""
    engine = _engine(url, seconds)
    try:
        with engine.connect() as connection:
            if url.get_backend_name() in _OF_MYSQL:
                connection.exec_driver_sql("SET time_zone = '+00:00'")
            yield connection
    finally:
        engine.dispose()


def slice_rows(source: SqlProbe, probed: ProbedSlice, dialect: str) -> SourceRows:
    """The slice's rows: of its partition and of its window.

    In the driver's own form, because SQLAlchemy's texts treat a colon or a percent sign in a quoted name as syntax.
    Raises IdentifierError for a name that the database does not allow.
    """
    table = ".".join(quote_name(part, dialect) for part in source.table.split("."))
    # Drivers parse a text differently without bound values.
    conditions: list[tuple[str, object]] = [(f"1 = {bound_mark(dialect)}", 1)]
    for name, value in probed.texts(source.partition).items():
        conditions.append((condition(name, "=", dialect), value))
    if source.time_column is not None and probed.window is not None:
        conditions.append((condition(source.time_column, ">=", dialect), _bound(probed.window.start, dialect)))
        conditions.append((condition(source.time_column, "<", dialect), _bound(probed.window.end, dialect)))
    where = " AND ".join(text for text, _ in conditions)
    return SourceRows(dialect, table, where, tuple(value for _, value in conditions))


def _watermark(source: SqlProbe, rows: SourceRows) -> Figure:
    """The greatest watermark of the whole table."""
    if source.watermark is None:
        return Figure("NULL")
    return Figure(f"(SELECT max({quote_name(source.watermark, rows.dialect)}) FROM {rows.table})")  # noqa: S608 - every name is quoted


def _bound(instant: datetime, dialect: str) -> object:
    """PostgreSQL has zones; the other databases get UTC, the session's clock."""
    if dialect == "postgresql":
        return instant
    naive = instant.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(" ") if dialect == "sqlite" else naive


def database_url(given: str) -> URL:
    """The URL with the installed driver. Raises ProbeSettingError."""
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise ProbeSettingError("the text is not a URL of a database", expected="postgresql://user@host/db") from None
    if url.get_backend_name() not in ("postgresql", "mysql", "mariadb", "sqlite"):
        raise ProbeSettingError("probes cannot read this database", expected="postgresql, mysql, mariadb or sqlite")
    return url.set(drivername=_DRIVERS.get(url.get_backend_name(), url.drivername))


def _engine(url: URL, seconds: int) -> Engine:
    """An engine with read-only sessions on UTC and a timeout for statements."""
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
    return {**ends, "init_command": "SET SESSION TRANSACTION READ ONLY"}


def _read_only_file(path: str, seconds: int) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{_escape(path)}?mode=ro", uri=True, timeout=seconds, check_same_thread=False)
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > until), _SQLITE_STEPS)
    return connection


def _escape(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")

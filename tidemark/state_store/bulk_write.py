"""Writes many rows in one statement, in the fastest way for each database. Names are columns of our tables.

SQLite takes rows one by one. PostgreSQL takes one array for each column, as text built here: the driver would handle
each value separately, which costs several times as much as the statement.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Boolean, Integer

from tidemark.quoting.standard import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Table

_CHUNK = 5_000


class BulkStatement(NamedTuple):
    """SQL text and its values: rows for SQLite, the values of one execution for PostgreSQL."""

    text: str
    values: Sequence[Any]


class Rows(NamedTuple):
    """Rows to insert into a table, or with a `key`, to replace rows with the same key.

    Keys must be unique. A column in `keep` stays if the new row has nothing for it; with `only_new`, existing rows do
    not change. Without a key, an existing row is an error.
    """

    table: Table
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    key: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    only_new: bool = False

    def statements(self, dialect: str) -> Iterator[BulkStatement]:
        """Statements that write the rows, some thousand in each."""
        changed = () if self.only_new else tuple(name for name in self.columns if name not in self.key)
        text = _statement(self.table, self.columns, self.key, dialect, changed, self.keep)
        for start in range(0, len(self.rows), _CHUNK):
            chunk = self.rows[start : start + _CHUNK]
            yield BulkStatement(text, list(chunk) if dialect == "sqlite" else self._arrays(chunk))

    def write(self, connection: Connection) -> None:
        """Write the rows now."""
        for text, values in self.statements(connection.dialect.name):
            connection.exec_driver_sql(text, values if isinstance(values, list) else tuple(values))

    def _arrays(self, chunk: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
        columns = zip(*chunk, strict=True)
        return tuple(_array_text(self.table, name, values) for name, values in zip(self.columns, columns, strict=True))


@lru_cache(maxsize=64)
def _statement(
    table: Table,
    columns: tuple[str, ...],
    key: tuple[str, ...],
    dialect: str,
    changed: tuple[str, ...],
    keep: tuple[str, ...],
) -> str:
    names = ", ".join(map(_name, columns))
    if dialect == "sqlite":
        values = f"VALUES ({', '.join('?' * len(columns))})"
    else:  # one array for each column: parsed once, for any number of rows
        values = f"SELECT * FROM unnest({', '.join(f'%s::{_array_type(table, name)}' for name in columns)})"  # noqa: S608 - names of columns
    text = f"INSERT INTO {_name(table.name)} ({names}) {values}"
    if not key:
        return text
    sets = ", ".join(f"{_name(name)} = {_new_value(table, name, keep)}" for name in changed)
    return f"{text} ON CONFLICT ({', '.join(map(_name, key))}) DO {f'UPDATE SET {sets}' if sets else 'NOTHING'}"


@lru_cache(maxsize=256)
def _array_type(table: Table, name: str) -> str:
    kind = table.c[name].type
    if isinstance(kind, Boolean):
        return "boolean[]"
    return "bigint[]" if isinstance(kind, Integer) else "text[]"


def text_array(values: Iterable[str | None]) -> str:
    """The literal of a PostgreSQL array of texts."""
    return f"{{{','.join(map(_array_item, values))}}}"


def _array_text(table: Table, name: str, values: Iterable[Any]) -> str:
    if _array_type(table, name) == "text[]":
        return text_array(values)
    write: Callable[[Any], str] = str
    return f"{{{','.join('NULL' if value is None else write(value) for value in values)}}}"


def _array_item(value: str | None) -> str:
    if value is None:
        return "NULL"
    if '"' in value or "\\" in value:
        value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{value}"'


def _new_value(table: Table, name: str, keep: tuple[str, ...]) -> str:
    new = f"excluded.{_name(name)}"
    return f"coalesce({new}, {_name(table.name)}.{_name(name)})" if name in keep else new


def _name(name: str) -> str:
    """A quoted name; SQLite quotes in the same way, and PostgreSQL's length limit is the shorter one."""
    return quote(name, "postgresql")

"""Many rows in one statement, as each database takes them fastest. Names are columns of our own tables."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Boolean, Integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Table

_CHUNK = 5_000


def insert(connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows; one that is there already is an error."""
    _write(connection, _statement(table, columns, (), connection.dialect.name, ()), rows)


def upsert(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    key: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    *,
    keep: tuple[str, ...] = (),
) -> None:
    """Insert rows, or put them in the place of those with the same key. No key may be there twice.

    A column of `keep` stays as it was where the new row has nothing in it.
    """
    _write(connection, _statement(table, columns, key, connection.dialect.name, keep), rows)


def _write(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(statement, list(chunk))
        else:
            connection.exec_driver_sql(statement, tuple(map(list, zip(*chunk, strict=True))))


@lru_cache(maxsize=64)
def _statement(
    table: Table, columns: tuple[str, ...], key: tuple[str, ...], dialect: str, keep: tuple[str, ...]
) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    if dialect == "sqlite":
        values = f"VALUES ({', '.join('?' * len(columns))})"
    else:  # one array a column: parsed once, however many rows there are
        values = f"SELECT * FROM unnest({', '.join(f'%s::{_array(table, name)}' for name in columns)})"  # noqa: S608 - names of columns
    text = f'INSERT INTO "{table.name}" ({names}) {values}'
    if not key:
        return text
    found = ", ".join(f'"{name}"' for name in key)
    sets = ", ".join(f'"{name}" = {_new_value(table, name, keep)}' for name in columns if name not in key)
    return f"{text} ON CONFLICT ({found}) DO UPDATE SET {sets}"


def _array(table: Table, name: str) -> str:
    kind = table.c[name].type
    if isinstance(kind, Boolean):
        return "boolean[]"
    return "bigint[]" if isinstance(kind, Integer) else "text[]"


def _new_value(table: Table, name: str, keep: tuple[str, ...]) -> str:
    new = f'excluded."{name}"'
    return f'coalesce({new}, "{table.name}"."{name}")' if name in keep else new

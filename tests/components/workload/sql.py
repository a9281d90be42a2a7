"""Changes as SQL: consecutive changes of the same kind in the same second are one statement of several rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pymysql.converters import escape_item

from tests.components.workload.changes import Change, RowChange, SchemaChange, Value
from tests.components.workload.schema import DATABASE, KEYS, Instance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Statement:
    """SQL for one instance, to be executed with the session's TIMESTAMP set to `at`; `rows` = changes that it makes."""

    at: int
    instance: Instance
    sql: str
    rows: int


def statements(changes: Iterable[Change]) -> Iterator[Statement]:
    """The statements that make the changes, in their order."""
    for _, group in groupby(changes, key=_shape):
        yield _statement(list(group))


def _shape(change: Change) -> tuple[object, ...]:
    """Changes in a row with the same shape go into one statement."""
    if isinstance(change, SchemaChange):
        return (change.at, change.instance, change.ddl)
    values = tuple(change.values.items()) if change.operation == "update" else tuple(change.values)
    return (change.at, change.instance, change.table, change.operation, values)


def _statement(group: Sequence[Change]) -> Statement:
    first = group[0]
    if isinstance(first, SchemaChange):
        use = f"; USE {DATABASE}" if first.table is None else ""
        return Statement(first.at, first.instance, first.ddl + use, 0)
    rows = [change for change in group if isinstance(change, RowChange)]
    build = {"insert": _insert, "update": _update, "delete": _delete}[first.operation]
    return Statement(first.at, first.instance, build(first, rows), len(rows))


def _insert(first: RowChange, rows: Sequence[RowChange]) -> str:
    tuples = ", ".join("(" + ", ".join(map(literal, row.values.values())) + ")" for row in rows)
    return f"INSERT INTO {first.table} ({', '.join(first.values)}) VALUES {tuples}"  # noqa: S608 - own names, escaped values


def _update(first: RowChange, rows: Sequence[RowChange]) -> str:
    return f"UPDATE {first.table} SET {_assignments(first.values)} WHERE {_keys(first, rows)}"  # noqa: S608 - as above


def _delete(first: RowChange, rows: Sequence[RowChange]) -> str:
    return f"DELETE FROM {first.table} WHERE {_keys(first, rows)}"  # noqa: S608 - as above


def _assignments(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{column} = {literal(value)}" for column, value in values.items())


def _keys(first: RowChange, rows: Sequence[RowChange]) -> str:
    return f"{KEYS[first.table]} IN ({', '.join(str(row.key) for row in rows)})"


def literal(value: Value) -> str:
    """A value as MariaDB reads it."""
    text: str = escape_item(value, "utf8mb4")
    return text

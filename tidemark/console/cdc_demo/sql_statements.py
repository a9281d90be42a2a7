"""Turns a recorded change into an SQL statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tidemark.quoting.mysql import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


@dataclass(frozen=True)
class Statement:
    """SQL and its values; `at` is its time (epoch seconds), `is_ddl` whether it commits by itself."""

    at: int
    sql: str
    values: tuple[Any, ...] = ()
    is_ddl: bool = False


@dataclass
class Statements:
    """Makes statements from records in their order. Keeps the types and keys of each table, which records declare."""

    _types: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, value: Mapping[str, Any] | None) -> Statement | None:
        """The statement of a record in Debezium's form; None for a tombstone."""
        if value is None:
            return None
        at = int(value["source"]["ts_ms"]) // 1000
        if "ddl" in value:
            self._declare(value)
            return Statement(at, value["ddl"], is_ddl=True)
        return Statement(at, *self._change(value["source"]["table"], value))

    def _declare(self, value: Mapping[str, Any]) -> None:
        for change in value["tableChanges"]:
            if change.get("table"):
                name = change["id"].replace('"', "").rpartition(".")[2]
                self._types[name] = {column["name"]: column["typeName"] for column in change["table"]["columns"]}
                self._keys[name] = tuple(change["table"]["primaryKeyColumnNames"])

    def _change(self, table: str, value: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
        before, after = self._as_sql(table, value["before"]), self._as_sql(table, value["after"])
        where, key = self._where(table, before or after)
        if value["op"] == "d":
            return f"DELETE FROM {quote(table)} WHERE {where}", key  # noqa: S608 - names are quoted, values are bound
        names = [quote(name) for name in after]
        if value["op"] == "u":
            listed = ", ".join(f"{name} = %s" for name in names)
            return f"UPDATE {quote(table)} SET {listed} WHERE {where}", (*after.values(), *key)  # noqa: S608 - as above
        places = ", ".join(["%s"] * len(names))
        return f"INSERT INTO {quote(table)} ({', '.join(names)}) VALUES ({places})", tuple(after.values())  # noqa: S608 - as above

    def _where(self, table: str, row: Row) -> tuple[str, tuple[Any, ...]]:
        keys = self._keys[table]
        return " AND ".join(f"{quote(name)} = %s" for name in keys), tuple(row[name] for name in keys)

    def _as_sql(self, table: str, row: Row | None) -> Row:
        types = self._types[table]
        return {name: _as_sql(types[name], value) for name, value in (row or {}).items()}


def _as_sql(type_name: str, value: Any) -> Any:
    """A value in Debezium's form as a literal of the server, for a session in UTC."""
    if value is None:
        return None
    if type_name == "DATE":
        return str(date(1970, 1, 1) + timedelta(days=value))
    if type_name == "DATETIME":
        return f"{_EPOCH + timedelta(milliseconds=value):%Y-%m-%d %H:%M:%S.%f}"
    if type_name == "TIMESTAMP":
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M:%S.%f}"
    return value

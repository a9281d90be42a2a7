"""Change streams made for tests, in the form that Debezium's records have in a landed file."""

from __future__ import annotations

import gzip
import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

Row = dict[str, Any]

ORDERS = {"order_id": "BIGINT", "user_id": "BIGINT", "amount": "DECIMAL", "order_date": "DATE"}
USERS = {"user_id": "BIGINT", "name": "VARCHAR"}
_USUAL_SIZES: dict[str, tuple[int, int | None]] = {"DECIMAL": (10, 2), "VARCHAR": (64, None)}
_TYPE = re.compile(r"^(?P<name>[A-Z]+)(\((?P<length>\d+)(,(?P<scale>\d+))?\))?(?P<modifier>( [A-Z]+)*)$")


def at(text: str) -> datetime:
    """`2026-03-23 10:00` in UTC; Paris is an hour (from the 29th two) ahead."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def described_type(kind: str) -> dict[str, Any]:
    """`DECIMAL(14,4)` as Debezium lists it."""
    match = _TYPE.match(kind)
    assert match, kind
    length, scale = _USUAL_SIZES.get(kind, (match["length"], match["scale"]))
    sizes = {"length": length and int(length), "scale": scale and int(scale)}
    name = match["name"] + match["modifier"]
    return {"typeName": name, "typeExpression": name, **sizes}


def _described_table(table: str, columns: Mapping[str, str]) -> dict[str, Any]:
    described = [
        {"name": name, **described_type(kind), "position": position, "optional": position > 1}
        for position, (name, kind) in enumerate(columns.items(), 1)
    ]
    keys = {"primaryKeyColumnNames": [next(iter(columns))], "columns": described}
    return {"type": "CREATE", "id": f'"school"."{table}"', "table": keys}


class Stream:
    """One instance's topic as it grows; `lines` are in offset order."""

    def __init__(self, instance: str) -> None:
        self.instance = instance
        self.lines: list[str] = []
        self._file, self._written = 1, 0
        self._transaction: int | None = None
        self._stands = False

    def declare(self, table: str, columns: Mapping[str, str], when: datetime, snapshot: str = "false") -> None:
        """The table is made, or with another `snapshot` was found with rows of an initial load.

        `columns` are name -> type, with its sizes where they matter: `DECIMAL(14,4)`.
        """
        changed = _described_table(table, columns)
        value = {**self._source(table, when), "databaseName": "school", "ddl": "CREATE", "tableChanges": [changed]}
        value["source"]["snapshot"] = snapshot
        self._add({"databaseName": "school"}, value)

    def recover(self, table: str, columns: Mapping[str, str], when: datetime) -> None:
        """The connector has lost its schema history, takes the table as it is, and goes on where it stopped."""
        self._written -= 1
        self.declare(table, columns, when, snapshot="true")

    def change(self, table: str, before: Row | None, after: Row | None, when: datetime) -> int:
        """An insert, an update, or a delete with its tombstone; returns the offset."""
        op = "c" if before is None else "d" if after is None else "u"
        key = {"id": next(iter((after or before or {}).values()))}
        offset = self._add(key, {"before": before, "after": after, **self._source(table, when), "op": op})
        if op == "d":
            self._add(key, None)
        return offset

    def move(self, table: str, before: Row, after: Row, when: datetime) -> None:
        """A row gets another key: a delete and an insert at one place of the binlog."""
        source = self._source(table, when)
        for op, old, new in (("d", before, None), ("c", None, after)):
            key = {"id": next(iter((new or old or {}).values()))}
            self._add(key, {"before": old, "after": new, **source, "op": op})
            if op == "d":
                self._add(key, None)

    def read(self, table: str, row: Row, when: datetime) -> int:
        """A row that a first load has read at `when`; returns the offset."""
        value = {"before": None, "after": row, **self._source(table, when), "op": "r"}
        value["source"]["snapshot"] = "incremental"
        return self._add({"id": next(iter(row.values()))}, value)

    def loaded(self, table: str, status: str = "SUCCEEDED") -> int:
        """The connector says that a first load has read the table; returns the offset."""
        data = {"connector_name": f"cdc.{self.instance}", "scanned_collection": f"school.{table}", "status": status}
        value = {"id": "1", "aggregate_type": "Incremental Snapshot", "type": "TABLE_SCAN_COMPLETED", "timestamp": 1}
        return self._add({"id": "1"}, {**value, "additional_data": data})

    def drop(self, table: str, when: datetime) -> int:
        """The table is dropped; returns the offset."""
        changed = {"type": "DROP", "id": f'"school"."{table}"', "table": None}
        value = {**self._source(table, when), "databaseName": "school", "ddl": "DROP", "tableChanges": [changed]}
        return self._add({"databaseName": "school"}, value)

    def execute(
        self, sql: str, when: datetime, columns: Mapping[str, str] | None = None, table: str = "orders_0"
    ) -> int:
        """A statement of which the connector keeps the text, with the `columns` that `table` has since; the offset."""
        changed = [] if columns is None else [_described_table(table, columns)]
        value = {**self._source(table, when), "databaseName": "school", "ddl": sql, "tableChanges": changed}
        return self._add({"databaseName": "school"}, value)

    def ask(self, table: str, when: datetime, *, in_part: bool = False) -> int:
        """Somebody asks for a load of the table, or of some of its rows; returns the offset."""
        some = {"additional-conditions": [{"filter": "order_id < 5"}]} if in_part else {}
        data = json.dumps({"data-collections": [f"school.{table}"], "type": "INCREMENTAL", **some})
        return self.change("tidemark_signal", None, {"id": "1", "type": "execute-snapshot", "data": data}, when)

    def again(self, start: int, end: int) -> None:
        """The connector sends the records in offsets `[start, end)` once more."""
        for line in self.lines[start:end]:
            record = json.loads(line)
            self._add(record["key"], record["value"])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """The records of the block have one GTID."""
        self._transaction = self._written + 1
        yield
        self._transaction = None

    @contextmanager
    def one_statement(self) -> Iterator[None]:
        """The records of the block have one place: the connector makes one of each table of a statement."""
        self._written += 1
        self._stands = True
        yield
        self._stands = False

    def lose_file(self) -> None:
        """The server's next records are two binlog files on; of the one between a transaction is missing."""
        self._file += 2
        self._written += 1

    def heartbeat(self, when: datetime, beat_at: datetime | None = None) -> None:
        """`when` by the server's clock; `beat_at` is the writer's, which older heartbeats do not carry."""
        self.heartbeat_row(when, {} if beat_at is None else {"beat_at": f"{beat_at:%Y-%m-%dT%H:%M:%SZ}"})

    def heartbeat_row(self, when: datetime, values: dict[str, Any]) -> int:
        """One with these columns; its offset."""
        self.change("heartbeat", {"id": 1}, {"id": 1, **values}, when)
        return len(self.lines) - 1

    def land(self, landing: Path, start: int, end: int | None = None) -> Path:
        """Write offsets `[start, end)` as one change file."""
        path = landing / self.instance / f"{start:012d}.jsonl.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, self.lines[start:end])
        return path

    def _source(self, table: str, when: datetime) -> dict[str, Any]:
        self._written += not self._stands
        source = {
            "ts_ms": int(when.timestamp() * 1000),
            "db": "school",
            "table": table,
            "name": f"cdc.{self.instance}",
            "snapshot": "false",
            "file": f"binlog.{self._file:06d}",
            "pos": 100 * self._written,
            "row": 0,
            "gtid": f"1-1-{self._transaction or self._written}",
        }
        return {"source": source}

    def _add(self, key: Mapping[str, Any], value: Mapping[str, Any] | None) -> int:
        offset = len(self.lines)
        record = {"topic": f"cdc.{self.instance}", "partition": 0, "offset": offset, "key": key, "value": value}
        self.lines.append(json.dumps(record, separators=(",", ":")) + "\n")
        return offset


def write(path: Path, lines: Sequence[str]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(lines)


def order(order_id: int, amount: str, day: int, user_id: int = 1) -> Row:
    """A row of orders as Debezium writes it; `day` is a day of March 2026."""
    days = (datetime(2026, 3, day, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    return {"order_id": order_id, "user_id": user_id, "amount": amount, "order_date": days}

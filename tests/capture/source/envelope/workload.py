"""One random workload on a sharded table, as Debezium and as Canal write it."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any

Row = dict[str, Any]

# name: (type as Debezium names it, length, scale; as the server prints it)
COLUMNS: dict[str, tuple[str, int | None, int | None, str]] = {
    "id": ("BIGINT", None, None, "bigint(20)"),
    "note": ("VARCHAR", 64, None, "varchar(64)"),
    "amount": ("DECIMAL", 10, 2, "decimal(10,2)"),
    "day": ("DATE", None, None, "date"),
    "at": ("DATETIME", None, None, "datetime"),
    "stamp": ("TIMESTAMP", None, None, "timestamp"),
    "big": ("BIGINT UNSIGNED", None, None, "bigint(20) unsigned"),
    "small": ("TINYINT", 4, None, "tinyint(4)"),
    "ratio": ("DOUBLE", None, None, "double"),
    "data": ("BLOB", None, None, "blob"),
    "kind": ("ENUM", 1, None, "enum('x','it''s')"),
    "tags": ("SET", 1, None, "set('a','b','c')"),
    "clock": ("TIME", 6, None, "time(6)"),
    "flag": ("BIT", 1, None, "bit(1)"),
}
KINDS, TAGS = ("x", "it's"), ("a", "b", "c")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTES = (None, "", "a|b", "quote ' \" and \\", "zwei\nZeilen", "🎉", "null")


@dataclass(frozen=True)
class Change:
    """`before` and `after` in the lake's types; None where there is no row."""

    table: str
    event_ms: int
    before: Row | None
    after: Row | None

    @property
    def op(self) -> str:
        return "c" if self.before is None else "d" if self.after is None else "u"


def workload(seed: int, count: int) -> list[Change]:
    chance = random.Random(seed)
    rows: dict[tuple[str, int], Row] = {}
    changes = []
    for number in range(count):
        table, key = chance.choice(["orders_0", "orders_1"]), chance.randrange(20)
        before = rows.get((table, key))
        after = None if before and chance.random() < 0.3 else row(chance, key, before)
        if after is None:
            del rows[table, key]
        else:
            rows[table, key] = after
        changes.append(Change(table, 1_774_220_400_000 + number // 3 * 1000, before, after))
    return changes


def row(chance: random.Random, key: int, before: Row | None) -> Row:
    """A new row, or `before` with some columns changed."""
    new = {
        "id": key,
        "note": chance.choice(NOTES),
        "amount": chance.choice([None, Decimal("2.00"), Decimal("-0.10"), Decimal("99999999.99")]),
        "day": chance.choice([None, date(2026, 3, 23), date(1969, 12, 31)]),
        "at": chance.choice([None, datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 23, 23, 59, 59)]),  # noqa: DTZ001
        "stamp": datetime(2026, 3, 29, 1, 30, tzinfo=UTC) + timedelta(seconds=chance.randrange(9)),
        "big": chance.choice([None, 0, 2**64 - 1]),
        "small": chance.choice([None, -128, 1]),
        "ratio": chance.choice([None, 0.5, -1.25e10]),
        "data": chance.choice([None, b"", bytes(range(256))]),
        "kind": chance.choice([None, *KINDS]),
        "tags": chance.choice([None, "", "b", "a,c"]),
        "clock": chance.choice([None, "-838:59:59.000000", "00:00:00.000001", "23:59:59.999999"]),
        "flag": chance.choice([None, False, True]),
    }
    kept = {name for name in COLUMNS if before and chance.random() < 0.6}
    return {name: before[name] if before and name in kept else value for name, value in new.items()}


def debezium(changes: list[Change]) -> list[str | None]:
    """Values of messages: the tables' declarations, then each change, with tombstones."""
    values: list[str | None] = [_declaration(table) for table in ("orders_0", "orders_1")]
    for change in changes:
        source = {"ts_ms": change.event_ms, "db": "school", "table": change.table}
        images = {"before": change.before and _wire(change.before), "after": change.after and _wire(change.after)}
        values.append(json.dumps({**images, "source": source, "op": change.op}))
        if change.op == "d":
            values.append(None)
    return values


def canal(changes: list[Change]) -> list[str]:
    """Values of messages: rows of one kind of change that follow each other come in one message."""
    return [
        _flat(list(group))
        for _, group in groupby(changes, key=lambda change: (change.table, change.event_ms, change.op))
    ]


def _declaration(table: str) -> str:
    listed = [
        {"name": name, "typeName": kind, "length": length, "scale": scale, "position": position}
        for position, (name, (kind, length, scale, _)) in enumerate(COLUMNS.items(), 1)
    ]
    changed = {"type": "CREATE", "id": f'"school"."{table}"', "table": {"columns": listed}}
    return json.dumps({"source": {"ts_ms": 1, "db": "school", "table": table}, "tableChanges": [changed]})


def _flat(changes: list[Change]) -> str:
    first = changes[0]
    old = [
        {
            name: _as_printed(name, change.before[name])
            for name in COLUMNS
            if change.before[name] != (change.after or {})[name]
        }
        for change in changes
        if change.before is not None and change.after is not None
    ]
    message = {
        "type": {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}[first.op],
        "database": "school",
        "table": first.table,
        "es": first.event_ms,
        "ts": first.event_ms + 300,
        "isDdl": False,
        "sql": "",
        "pkNames": ["id"],
        "mysqlType": {name: printed for name, (_, _, _, printed) in COLUMNS.items()},
        "data": [
            {name: _as_printed(name, value) for name, value in (change.after or change.before or {}).items()}
            for change in changes
        ],
        "old": old or None,
    }
    return json.dumps(message)


def _wire(row: Row) -> Row:
    return {name: _debeziums(name, value) for name, value in row.items()}


def _micros(clock: str) -> int:
    hours, minutes, seconds = clock.removeprefix("-").split(":")
    micros = (int(hours) * 60 + int(minutes)) * 60_000_000 + round(float(seconds) * 1_000_000)
    return -micros if clock.startswith("-") else micros


def _debeziums(name: str, value: Any) -> Any:
    if name == "big" and value is not None:
        return value if value < 2**63 else value - 2**64
    if name == "clock" and value is not None:
        return _micros(value)
    return _as_sent(value)


def _as_sent(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        if value.tzinfo:
            return f"{value:%Y-%m-%dT%H:%M:%SZ}"
        return int(value.replace(tzinfo=UTC).timestamp() * 1000)
    if isinstance(value, date):
        return (value - EPOCH.date()).days
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _as_printed(name: str, value: Any) -> str | None:
    if name == "kind" and value is not None:
        return str(KINDS.index(value) + 1)
    if name == "tags" and value is not None:
        return str(sum(1 << TAGS.index(member) for member in value.split(",") if member))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bytes):
        return value.decode("iso-8859-1")
    return None if value is None else str(value)

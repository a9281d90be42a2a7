"""A slow, obvious reading of a recording, for tests: its records one by one, and the tables that they lead to."""

from __future__ import annotations

import hashlib
import json
import lzma
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.components.workload.schema import HEARTBEAT, KEYS, shard_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATES = frozenset({"order_date", "lesson_date"})
_WALL_TIMES = frozenset({"registered_at", "starts_at", "created_at", "paid_at", "joined_at"})
_INSTANTS = frozenset({"updated_at", "beat_at"})

Row = dict[str, Any]
Tables = dict[str, dict[int, Row]]


def files(recording: Path, instance: str) -> list[Path]:
    """The change files of an instance in order."""
    return sorted(recording.joinpath("changes", instance).glob("*.jsonl.xz"))


def records(change_files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The records of change files in order."""
    for path in change_files:
        with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            yield from map(json.loads, lines)


def state(recording: Path, instances: Sequence[str], end: int) -> Tables:
    """The rows of each physical table after all events before an instant (epoch seconds)."""
    tables: Tables = {}
    for instance in instances:
        for record in records(files(recording, instance)):
            value = record["value"]
            if value and "op" in value and value["source"]["ts_ms"] < end * 1000:
                _apply(tables, value)
    return tables


def checksum(tables: Tables, physical: Iterable[str], columns: Sequence[str]) -> int:
    """The oracle's content checksum of a logical table, computed row by row."""
    return sum(
        int(hashlib.md5(_text(name, row, columns).encode(), usedforsecurity=False).hexdigest()[:15], 16)
        for name in physical
        for row in tables.get(name, {}).values()
    )


def _apply(tables: Tables, value: dict[str, Any]) -> None:
    table = value["source"]["table"]
    if table == HEARTBEAT:
        return
    rows, key = tables.setdefault(table, {}), KEYS[table]
    if value["op"] == "d":
        del rows[value["before"][key]]
    else:
        rows[value["after"][key]] = value["after"]


def _text(physical: str, row: Row, columns: Sequence[str]) -> str:
    return "|".join([shard_name(physical), *(_as_mariadb_prints(name, row.get(name)) for name in columns)])


def _as_mariadb_prints(column: str, value: Any) -> str:
    if value is None:
        return "\\N"
    if column in _DATES:
        return str(date(1970, 1, 1) + timedelta(days=value))
    if column in _WALL_TIMES:
        return f"{_EPOCH + timedelta(milliseconds=value):%Y-%m-%d %H:%M:%S}"
    if column in _INSTANTS:
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M:%S}"
    return str(value)

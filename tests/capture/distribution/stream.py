"""Messages of many physical tables, numbered within each, so that what comes out says what went in."""

from __future__ import annotations

import json
from typing import Final

from tidemark.capture.source_table import SourceTable

PARTITIONS: Final = 3
SHARDS: Final = ("orders_0", "orders_1", "orders_2", "lessons_0", "lessons_1", "users")


def instances(database: str) -> tuple[str, ...]:
    """Four that hold shards of it."""
    return tuple(f"{database}-{number}" for number in range(4))


def tables(database: str) -> list[SourceTable]:
    """Three logical tables of 24 physical ones."""
    names = ("orders_*", "lessons_*", "users")
    return [
        SourceTable(f"ods_{name.removesuffix('_*')}", f"{database}.{name}", instances(database), ("id",), None, ())
        for name in names
    ]


def message(database: str, table: str, number: int) -> str:
    source = {"ts_ms": 1, "db": database, "table": table}
    return json.dumps({"after": {"id": number}, "source": source, "op": "c"}, separators=(",", ":"))


class Numbered:
    """Makes the messages of an instance and remembers how many there were of each physical table."""

    def __init__(self, instance: str, database: str) -> None:
        self.instance, self.database = instance, database
        self.counts: dict[str, int] = {}

    def next(self, table: str) -> str:
        number = self.counts.get(table, 0)
        self.counts[table] = number + 1
        return message(self.database, table, number)

    def expected(self) -> dict[str, list[int]]:
        """By key what a logical topic has to hold, in this order."""
        return {f"{self.instance}.{self.database}.{table}": list(range(count)) for table, count in self.counts.items()}

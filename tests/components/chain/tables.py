"""The tables of the chain: four logical ones in shards on two instances, one of them with every captured type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.components.test_both_captures import COLUMNS
from tidemark.capture.source_table import SourceTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DATABASE: Final = "chain"
INSTANCES: Final = ("a", "b")
PERIOD: Final = "hour"
FIRST_SLICE: Final = "2026-03-23T00"

_NARROW: Final = {
    "id": "BIGINT NOT NULL",
    "user_id": "INT NOT NULL",
    "amount": "DECIMAL(12,2)",
    "status": "ENUM('new', 'paid', 'returned')",
    "day": "DATE",
    "updated_at": "TIMESTAMP(3) NULL",
}
_LOGINS: Final = {
    "tenant": "SMALLINT NOT NULL",
    "login": "VARCHAR(32) NOT NULL",
    "seen_at": "DATETIME(6)",
    "note": "VARCHAR(200)",
}


@dataclass(frozen=True)
class ChainTable:
    """A logical table; `shards` are on each instance, under the same names. `keys`: how many rows a shard may have."""

    name: str
    shards: tuple[str, ...]
    columns: Mapping[str, str]
    key: tuple[str, ...]
    partition_by: str | None
    keys: int
    options: str = ""
    first_slice: str = FIRST_SLICE

    @property
    def create(self) -> list[str]:
        """The statements that make its shards on an instance."""
        listed = ", ".join(f"`{name}` {kind}" for name, kind in self.columns.items())
        key = ", ".join(self.key)
        return [
            f"CREATE TABLE {shard} ({listed}, PRIMARY KEY ({key})) CHARACTER SET utf8mb4 {self.options}"
            for shard in self.shards
        ]

    def source(self) -> SourceTable:
        """As it is declared to the capture: a snapshot an hour."""
        pattern = self.shards[0].rstrip("0123456789") + "*" if len(self.shards) > 1 else self.shards[0]
        series = ((self.name, PERIOD, self.first_slice),)
        return SourceTable(self.name, f"{DATABASE}.{pattern}", INSTANCES, self.key, self.partition_by, series)


def _shards(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}_{number}" for number in range(count))


TABLES: Final = (
    ChainTable("ods_orders", _shards("orders", 2), COLUMNS, ("id",), "day", 300),
    ChainTable("ods_payments", _shards("payments", 3), _NARROW, ("id",), "day", 2500),
    ChainTable("ods_lessons", _shards("lessons", 2), _NARROW, ("id",), None, 2500),
    ChainTable("ods_logins", ("logins",), _LOGINS, ("tenant", "login"), None, 2500),
)
_PARTITIONS: Final = ", ".join(f"PARTITION p{number} VALUES LESS THAN ({1000 * (number + 1)})" for number in range(10))
EVENTS: Final = ChainTable(
    "ods_events", ("events",), _NARROW, ("id",), None, 2500, f"PARTITION BY RANGE (id) ({_PARTITIONS})"
)
"""Of a story that changes tables without row events: some of its partitions are emptied."""


def later_table(number: int, first_slice: str) -> ChainTable:
    """One that is made, declared and dropped while the others are written."""
    return ChainTable(f"ods_later_{number}", (f"later{number}",), _NARROW, ("id",), None, 600, "", first_slice)


def sources(tables: Iterable[ChainTable] = TABLES) -> list[SourceTable]:
    """All of them, as they are declared to the capture and to the distribution."""
    return [table.source() for table in tables]

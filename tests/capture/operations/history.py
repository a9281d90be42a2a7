"""A random life of a sharded database, and the slow, obvious model of what its tables held at any boundary."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.capture.streams import Row, Stream

START = datetime(2026, 3, 23, tzinfo=UTC)
COLUMNS = {"order_id": "BIGINT", "note": "VARCHAR", "amount": "DECIMAL", "order_date": "DATE"}
LATER_COLUMN = {"coupon": "VARCHAR"}
SHARDS = {"a": ("orders_0", "orders_1"), "b": ("orders_2",)}
NOTES = (None, "", "a|b", "quote ' and \\", "zwei\nZeilen", "🎉")

Content = dict[tuple[str, int], tuple[Any, ...]]


@dataclass
class ShardedHistory:
    """Two instances with three shards over `days` days; rows come, change, move partition, go and return.

    So much of the changes is `late`, by 30 hours.
    """

    seed: int
    days: int = 3
    changes: int = 120
    late: float = 0.02
    streams: dict[str, Stream] = field(default_factory=lambda: {name: Stream(name) for name in SHARDS})

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._rows: dict[tuple[str, int], Row] = {}
        self._wide: set[str] = set()
        for instance, shards in SHARDS.items():
            for shard in shards:
                self.streams[instance].declare(shard, COLUMNS, START)
            self._live(instance)

    def _live(self, instance: str) -> None:
        times = sorted(self._random.uniform(0, self.days * 86_400) for _ in range(self.changes))
        for index, seconds in enumerate(times):
            moment = START + timedelta(seconds=int(seconds))
            late = timedelta(hours=30) if self._random.random() < self.late else timedelta()
            shard = self._random.choice(SHARDS[instance])
            if index > self.changes * 0.6 and shard not in self._wide:
                self._wide.add(shard)
                self.streams[instance].declare(shard, COLUMNS | LATER_COLUMN, moment)
            self._one_change(instance, shard, max(START, moment - late))
            if self._random.random() < 0.3:
                self.streams[instance].heartbeat(moment)
        self.streams[instance].heartbeat(START + timedelta(days=self.days + 1))

    def _one_change(self, instance: str, shard: str, when: datetime) -> None:
        key = (shard, self._random.randrange(12))
        before = self._rows.pop(key, None)
        after = None if before and self._random.random() < 0.3 else self._row(shard, key[1])
        if after:
            self._rows[key] = after
        self.streams[instance].change(shard, before, after, when)

    def _row(self, shard: str, order_id: int) -> Row:
        day = self._random.choice([None, 20_535, 20_536, 20_537])
        amount = self._random.choice([None, "0.10", "99999999.99", "-3.00"])
        row = {"order_id": order_id, "note": self._random.choice(NOTES), "amount": amount, "order_date": day}
        return row | {"coupon": self._random.choice([None, "C1"])} if shard in self._wide else row

    def state_at(self, end: datetime) -> Content:
        """The rows after every record before the first one at or past `end`, of each instance."""
        content: Content = {}
        for instance, stream in self.streams.items():
            for record in _before(stream, end):
                shard = f"{instance}.school.{record['source']['table']}"
                image = record["after"] or record["before"]
                content.pop((shard, image["order_id"]), None)
                if record["after"]:
                    content[shard, image["order_id"]] = decode(record["after"])
        return content


def _before(stream: Stream, end: datetime) -> Iterator[dict[str, Any]]:
    """Row changes of orders up to the first record at or past `end`."""
    for line in stream.lines:
        value = json.loads(line)["value"]
        if value is None:
            continue
        if value["source"]["ts_ms"] >= end.timestamp() * 1000:
            return
        if value.get("op") and value["source"]["table"] != "heartbeat":
            yield value


def decode(row: Row) -> tuple[Any, ...]:
    """A row in the lake's types."""
    amount = None if row["amount"] is None else Decimal(row["amount"])
    day = None if row["order_date"] is None else datetime.fromtimestamp(row["order_date"] * 86_400, tz=UTC).date()
    return row["note"], amount, day, row.get("coupon")

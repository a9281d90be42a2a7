"""A life of orders: inserts, updates and deletes over the shards of an instance, and what is left of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from benchmarks.capture.messages import FIRST_MS, INSTANCES, BinlogWriter, row

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSERTS: Final = 0.4
_DELETES: Final = 0.05
# Four changes in five are of orders that came a little while ago.
_NEAR: Final = 0.8
_NEAR_ORDERS: Final = 20_000
_MINUTE_MS: Final = 60_000


@dataclass
class Left:
    """What a table holds: its orders, the sum of their ids and of their status, which is the number of a change."""

    orders: int = 0
    ids: int = 0
    status: int = 0

    def add(self, other: Left) -> None:
        self.orders, self.ids, self.status = (
            self.orders + other.orders,
            self.ids + other.ids,
            self.status + other.status,
        )


@dataclass
class OrderLife:
    """`changes` of an instance in `minutes` from midnight on, equally many a minute, with a heartbeat each."""

    instance: str
    shards: int
    changes: int
    minutes: int
    living: list[int] = field(default_factory=list)
    status: dict[int, int] = field(default_factory=dict)

    def messages(self) -> Iterator[str]:
        """As the instance's topic has them, the shards' declarations first."""
        chance = random.Random(self.instance)
        binlog = BinlogWriter(self.instance)
        for shard in range(self.shards):
            yield binlog.created(f"orders_{shard}", FIRST_MS)
        begun = 0
        for minute in range(self.minutes):
            end = self.changes * (minute + 1) // self.minutes
            at_ms = FIRST_MS + minute * _MINUTE_MS
            for number in range(begun, end):
                yield self._change(binlog, chance, number + 1, at_ms + (number - begun) * _MINUTE_MS // (end - begun))
            begun = end
            yield binlog.heartbeat(datetime.fromtimestamp((at_ms + _MINUTE_MS) / 1000, UTC))

    def left(self) -> Left:
        """After all messages."""
        return Left(len(self.status), sum(self.status), sum(self.status.values()))

    def _change(self, binlog: BinlogWriter, chance: random.Random, number: int, at_ms: int) -> str:
        what = chance.random()
        if what < _INSERTS or len(self.living) < 2:
            order_id = number * len(INSTANCES) + INSTANCES.index(self.instance)
            self.living.append(order_id)
            self.status[order_id] = number
            return binlog.change(self._shard(order_id), "c", "null", row(order_id, str(number)), at_ms)
        place = self._place(chance)
        order_id = self.living[place]
        before = row(order_id, str(self.status[order_id]))
        if what < _INSERTS + _DELETES:
            self.living[place] = self.living[-1]
            self.living.pop()
            del self.status[order_id]
            return binlog.change(self._shard(order_id), "d", before, "null", at_ms)
        self.status[order_id] = number
        return binlog.change(self._shard(order_id), "u", before, row(order_id, str(number)), at_ms)

    def _place(self, chance: random.Random) -> int:
        there = len(self.living)
        return (
            chance.randrange(max(0, there - _NEAR_ORDERS), there)
            if chance.random() < _NEAR
            else chance.randrange(there)
        )

    def _shard(self, order_id: int) -> str:
        return f"orders_{order_id // len(INSTANCES) % self.shards}"

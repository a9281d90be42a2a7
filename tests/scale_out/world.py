"""The small world of the injections: a captured table, two that are computed of it, and what their rows must be.

The rows are computed from the changes by plain Python, with nothing of the engine's.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tests.capture.streams import Row, Stream
from tests.project import write_project

if TYPE_CHECKING:
    from pathlib import Path

FIRST: Final = date(2026, 3, 23)
ORDERS: Final = """\
kind: Snapshot
period: day
source: {table: "school.orders_*", instances: [a, b]}
key: [order_id]
partition_by: order_date
keep_snapshots: 3
"""
TOTALS: Final = """\
SELECT order_date, count(*) AS orders, sum(amount) AS amount
FROM ods_orders
WHERE dt = :biz_date
GROUP BY order_date
"""
GROWTH: Final = """\
SELECT t.order_date, t.orders, t.orders - coalesce(y.orders, 0) AS more
FROM dws_totals_1d AS t
LEFT JOIN dws_totals_1d AS y ON y.order_date <=> t.order_date AND y.dt = date_sub(:biz_date, 1)
WHERE t.dt = :biz_date
"""
DECLARATIONS: Final = {
    "ods/ods_orders.yaml": ORDERS,
    "dws/dws_totals_1d.yaml": "period: day\nquality: [{unique: [order_date]}]\n",
    "dws/dws_totals_1d.sql": TOTALS,
    "dws/dws_growth_1d.yaml": "period: day\nquality: [{not_null: [orders]}]\n",
    "dws/dws_growth_1d.sql": GROWTH,
}
SHARDS: Final = {"a": ("orders_0", "orders_1"), "b": ("orders_2",)}
COLUMNS: Final = {"order_id": "BIGINT", "amount": "DECIMAL", "order_date": "DATE"}
_CHANGES: Final = 12
"""Of each instance, a day."""
_KEYS: Final = 9
_STAYS: Final = 0.7
"""How often a row that changes is there after it."""
_DATES: Final = (None, date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 3))
_LANDS_AT: Final = time(3, tzinfo=UTC)
"""What comes in with a day ends so much later: the first changes of the next one are there already."""

Order = tuple[Decimal | None, date | None]
"""Amount and date."""
Content = dict[tuple[str, int], Order]
"""By shard, as the lake names it, and number."""


@dataclass
class SourceWorld:
    """The source's life; `days` are those that have come in whole, in order."""

    seed: int
    days: list[date] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._streams = {name: Stream(name) for name in SHARDS}
        self._rows: Content = {}
        self._at_end: dict[date, Content] = {}
        for name, shards in SHARDS.items():
            for shard in shards:
                self._streams[name].declare(shard, COLUMNS, datetime.combine(FIRST, time(), UTC))

    def write_project(self, root: Path) -> None:
        """The declarations of the three tables."""
        own = {"project.yaml": f"start: {FIRST}\nowner: data@school.example\n"}
        write_project(root, {**DECLARATIONS, **own}, "time_zone: UTC\n")

    def land(self, landing: Path) -> date:
        """The next day comes in, and the first hours after it; returns the day."""
        day = FIRST + timedelta(days=len(self.days))
        self._at_end[day] = {}
        for name, stream in self._streams.items():
            landed = 0 if not self.days else len(stream.lines)
            self._live(name, day)
            stream.land(landing, landed)
        self.days.append(day)
        return day

    def _live(self, instance: str, day: date) -> None:
        begins = datetime.combine(day, _LANDS_AT if self.days else time(tzinfo=UTC))
        ends, midnight = (datetime.combine(day + timedelta(days=1), at) for at in (_LANDS_AT, time(tzinfo=UTC)))
        moments = [begins + (ends - begins) * self._chance.random() for _ in range(_CHANGES)]
        for moment in sorted((*moments, midnight)):
            if moment == midnight:
                self._streams[instance].heartbeat(midnight)
                own = {key: row for key, row in self._rows.items() if key[0].startswith(f"{instance}.")}
                self._at_end[day].update(own)
            else:
                self._change(instance, moment)
        self._streams[instance].heartbeat(ends)

    def _change(self, instance: str, moment: datetime) -> None:
        table = self._chance.choice(SHARDS[instance])
        key = f"{instance}.school.{table}", self._chance.randrange(_KEYS)
        before, after = self._rows.pop(key, None), None
        if before is None or self._chance.random() < _STAYS:
            cents = self._chance.choice([None, self._chance.randrange(10_000)])
            after = None if cents is None else Decimal(cents).scaleb(-2), self._chance.choice(_DATES)
            self._rows[key] = after
        self._streams[instance].change(table, _sent(key, before), _sent(key, after), moment)

    def orders_now(self) -> Content:
        """The captured table: all that has come in."""
        return dict(self._rows)

    def orders(self, day: date) -> Content:
        """What it was at a day's end."""
        return self._at_end[day]

    def totals(self, day: date) -> dict[date | None, tuple[int, Decimal | None]]:
        """How many orders a date has, and their amount; NULL where none is known."""
        amounts = defaultdict[date | None, list[Decimal | None]](list)
        for amount, ordered in self._at_end[day].values():
            amounts[ordered].append(amount)
        known = {ordered: [amount for amount in some if amount is not None] for ordered, some in amounts.items()}
        return {
            ordered: (len(amounts[ordered]), sum(some, Decimal()) if some else None) for ordered, some in known.items()
        }

    def growth(self, day: date) -> dict[date | None, tuple[int, int]]:
        """How many orders a date has, and how many more than the day before."""
        before = self.totals(day - timedelta(days=1)) if day > FIRST else {}
        return {
            ordered: (count, count - before.get(ordered, (0, None))[0])
            for ordered, (count, _) in self.totals(day).items()
        }


def _sent(key: tuple[str, int], values: Order | None) -> Row | None:
    """A row as Debezium sends it."""
    if values is None:
        return None
    amount, ordered = values
    days = None if ordered is None else (ordered - date(1970, 1, 1)).days
    return {"order_id": key[1], "amount": None if amount is None else str(amount), "order_date": days}

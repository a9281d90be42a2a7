"""One stream of changes in many permutations that its shards allow, packed into the topics of two instances.

A *world* is one permutation, with physical tables of its own. In each, the records of a shard keep their order; those
of different shards are shuffled, each instance's topic is cut at places of its own into what a pass reads, and the
connector sends records again, from any earlier place on. All worlds have to come to one and the same table: the one
that the changes make when each shard's are applied one after the other.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.capture.streams import Row, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

START = datetime(2026, 3, 23, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHARDS = {"a": (0, 1), "b": (2,)}
SHARD_COUNT = 3
NARROW = {"id": "INT", "note": "VARCHAR", "amount": "DECIMAL", "at": "DATE", "day": "DATE"}
WIDE = {**NARROW, "id": "BIGINT", "amount": "DECIMAL(14,4)", "at": "DATETIME", "coupon": "VARCHAR"}

Content = dict[tuple[int, int], tuple[Any, ...]]


@dataclass(frozen=True)
class WorldEvent:
    """What a shard's binlog says: a declaration of its columns, or a change of a row, which is in the lake's types."""

    shard: int
    is_wide: bool
    before: Row | None = None
    after: Row | None = None

    @property
    def is_declaration(self) -> bool:
        return self.before is None and self.after is None


def life(seed: int, changes: int = 8) -> list[list[WorldEvent]]:
    """Per shard what happens to it, in order; each is altered at some point."""
    return [_life(random.Random(f"{seed} {shard}"), shard, changes) for shard in range(SHARD_COUNT)]


def _life(chance: random.Random, shard: int, changes: int) -> list[WorldEvent]:
    events, rows = [WorldEvent(shard, is_wide=False)], dict[int, Row]()
    altered = chance.randrange(1, changes)
    for number in range(changes):
        if number == altered:
            events.append(WorldEvent(shard, is_wide=True))
        is_wide = number >= altered
        key = chance.randrange(4)
        before = rows.pop(key, None)
        after = None if before and chance.random() < 0.3 else _row(chance, key, is_wide=is_wide)
        if after:
            rows[key] = after
        events.append(WorldEvent(shard, is_wide, before, after))
    return events


def _row(chance: random.Random, key: int, *, is_wide: bool) -> Row:
    day = START + timedelta(days=chance.randrange(3))
    at = day + timedelta(seconds=chance.randrange(86_400)) if is_wide else day
    return {
        "id": key,
        "note": chance.choice([None, "", "\U0001f389", "a|b"]),
        "amount": Decimal(chance.randrange(10**7)) / (10_000 if is_wide else 100),
        "at": at.replace(tzinfo=None),
        "day": chance.choice([None, day.date()]),
        "coupon": chance.choice([None, "C1"]) if is_wide else None,
    }


def apply_in_order(lives: Sequence[Sequence[WorldEvent]]) -> Content:
    """The slow, obvious one: a dictionary, and each shard's changes one after the other."""
    content: Content = {}
    for event in (event for events in lives for event in events if not event.is_declaration):
        row = event.after or event.before or {}
        content.pop((event.shard, row["id"]), None)
        if event.after:
            content[event.shard, row["id"]] = lake_values(event.after)
    return content


def lake_values(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("note", "amount", "at", "day", "coupon"))


def as_sent(row: Row | None, *, is_wide: bool) -> Row | None:
    """As Debezium sends it: an older row comes in the columns of today."""
    if row is None:
        return None
    since = row["at"].replace(tzinfo=UTC) - EPOCH
    day = None if row["day"] is None else (row["day"] - EPOCH.date()).days
    at = since // timedelta(milliseconds=1) if is_wide else since.days
    sent = {**row, "amount": f"{row['amount']:.{4 if is_wide else 2}f}", "at": at, "day": day}
    return sent if is_wide else {name: sent[name] for name in NARROW}


@dataclass
class Worlds:
    """`count` different permutations of the life of `seed`, in `passes` parts."""

    seed: int
    count: int
    passes: int
    streams: dict[str, Stream] = field(default_factory=lambda: {name: Stream(name) for name in SHARDS})
    sent_again: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.lives = life(self.seed)
        self._chance = random.Random(self.seed)
        self.permutations = self._permutations()

    @property
    def changes(self) -> int:
        """How many there are in all worlds, each counted once."""
        return self.count * sum(not event.is_declaration for events in self.lives for event in events)

    def _permutations(self) -> list[dict[str, list[list[WorldEvent]]]]:
        """Of each world and instance the parts, no two worlds alike."""
        distinct: dict[str, dict[str, list[list[WorldEvent]]]] = {}
        while len(distinct) < self.count:
            chance = random.Random(f"{self.seed} world {len(distinct)} {self._chance.random()}")
            parts = {name: self._cut(chance, self._shuffle(chance, shards)) for name, shards in SHARDS.items()}
            distinct[_signature(parts)] = parts
        return list(distinct.values())

    def _shuffle(self, chance: random.Random, shards: Sequence[int]) -> list[WorldEvent]:
        turns = [shard for shard in shards for _ in self.lives[shard]]
        chance.shuffle(turns)
        coming = {shard: iter(self.lives[shard]) for shard in shards}
        return [next(coming[shard]) for shard in turns]

    def _cut(self, chance: random.Random, events: Sequence[WorldEvent]) -> list[list[WorldEvent]]:
        cuts = sorted(chance.randrange(len(events) + 1) for _ in range(self.passes - 1))
        return [list(events[start:end]) for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True)]

    def send(self, part: int) -> None:
        """What comes before the next pass, with what the connector sends again in between."""
        when = START + timedelta(hours=part)
        for name, stream in self.streams.items():
            self._again(stream, 0.5)
            for world in self._chance.sample(range(self.count), self.count):
                for event in self.permutations[world][name][part]:
                    _write(stream, event, f"orders_{world * SHARD_COUNT + event.shard}", when)
                self._again(stream, 0.2)

    def send_all_again(self) -> None:
        """Every topic as a whole."""
        for name, stream in self.streams.items():
            self.sent_again[name] += len(stream.lines)
            stream.again(0, len(stream.lines))

    def _again(self, stream: Stream, probability: float) -> None:
        if stream.lines and self._chance.random() < probability:
            end = len(stream.lines)
            start = max(0, end - self._chance.randrange(1, 40))
            end -= self._chance.randrange(end - start)
            self.sent_again[stream.instance] += end - start
            stream.again(start, end)

    def by_world(self, rows: Sequence[Mapping[str, Any]]) -> list[Content]:
        """The content of each world's part of the table."""
        distinct: list[Content] = [{} for _ in range(self.count)]
        for row in rows:
            world, shard = divmod(int(row["_shard"].rpartition("_")[2]), SHARD_COUNT)
            assert (shard, row["id"]) not in distinct[world]
            distinct[world][shard, row["id"]] = lake_values(row)
        return distinct


def _signature(parts: Mapping[str, Sequence[Sequence[WorldEvent]]]) -> str:
    return "|".join(",".join(str(event.shard) for event in part) for listed in parts.values() for part in listed)


def _write(stream: Stream, event: WorldEvent, table: str, when: datetime) -> None:
    if event.is_declaration:
        stream.declare(table, WIDE if event.is_wide else NARROW, when)
    else:
        before, after = (as_sent(row, is_wide=event.is_wide) for row in (event.before, event.after))
        stream.change(table, before, after, when)

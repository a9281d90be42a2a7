"""A captured table without Spark: real planning and real commit states, rows as numbers.

The topics have many records a second. A pass sees some of each topic, a kill comes behind any commit, and what is
merged is noted by the record. `Capture.check` compares that with what was written.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tests.capture.binlog.logs import binlog_of
from tidemark.capture.apply.apply_unlogged_effects import effects_by_batch
from tidemark.capture.apply.table_ingest import next_state, state_behind
from tidemark.capture.binlog.consecutive_records import MINUTE_MS, Seen
from tidemark.capture.binlog.gtid_policy import SPARSE
from tidemark.capture.binlog.position import Gtid, Position
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.planning.commit_planner import fold_empty, make_plan
from tidemark.capture.planning.cuts_at_unlogged_effects import cut_at
from tidemark.capture.planning.readable_offsets import readable_scan
from tidemark.capture.planning.slice_ends import open_slice_ends
from tidemark.capture.planning.unlogged_effects import table_effects
from tidemark.capture.schema.lake_column_types import source_column
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source.scan import Scan
from tidemark.capture.source.scan_summary import Summary
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.dependency_model.time import Calendar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from tidemark.capture.planning.commit_planner import PlannedBatch

START: Final = 1_774_224_000_000
"""2026-03-23 00:00 UTC."""
TABLE: Final = SourceTable(
    "ods_orders", "school.orders_*", ("a", "b"), ("id",), None, (("ods_orders", "5min", "2026-03-23T00:00"),)
)
COLUMNS: Final = TableColumns((source_column("school.orders_0", "id", "BIGINT"),))
UTC: Final = Calendar("UTC")
STATEMENTS: Final = (
    "TRUNCATE TABLE orders_{}",
    "ALTER TABLE orders_{} ADD COLUMN c INT DEFAULT 3",
    "RENAME TABLE x TO y",
    "ALTER TABLE orders_{} COMMENT 'x'",
)


@dataclass(frozen=True)
class Sent:
    """A record of a topic; `number` tells what was written from its copies, `what` is row, beat, tombstone, or SQL."""

    seen: Seen
    number: int
    what: str
    shard: str


@dataclass
class Server:
    """An instance that writes; transactions may last, and its connector sends records again."""

    instance: str
    chance: random.Random
    clock_ms: int
    pos: int = 4
    gtid: int = 0
    topic: list[Sent] = field(default_factory=list)
    written: list[Sent] = field(default_factory=list)

    def live(self, steps: int) -> None:
        for _ in range(steps):
            action = self.chance.random()
            if action < 0.62:
                self._transaction(self.chance.choice([1, 1, 1, 2, 4]))
            elif action < 0.74:
                self.beat()
            elif action < 0.82:
                self._write(self.chance.choice(STATEMENTS).format(self.chance.randrange(2)))
            elif action < 0.9:
                self.clock_ms += self.chance.choice([1_000, 61_000, 300_000])
            else:
                self._again()

    def beat(self) -> None:
        self._write("beat")

    def _transaction(self, rows: int) -> None:
        self.gtid += 1
        for row in range(rows):
            self._write("row", new=False)
            if self.chance.random() < 0.1:
                self._add(replace(self.topic[-1], what="tombstone"))
            if row + 1 < rows and self.chance.random() < 0.15:
                self.clock_ms += self.chance.choice([1_000, 30_000, 301_000])

    def _write(self, what: str, *, new: bool = True) -> None:
        self.gtid += new
        self.pos += self.chance.randrange(1, 50)
        self.clock_ms += self.chance.choice([0, 0, 0, 0, 1_000])
        seen = Seen(0, "binlog", Position(1, self.pos), self.clock_ms, Gtid("1-1", self.gtid))
        sent = Sent(seen, len(self.written), what, f"school.orders_{self.chance.randrange(2)}")
        self.written.append(sent)
        self._add(sent)

    def _again(self) -> None:
        start = max(0, len(self.written) - self.chance.randrange(1, 6))
        for sent in self.written[start:]:
            self._add(sent)

    def _add(self, sent: Sent) -> None:
        self.topic.append(replace(sent, seen=replace(sent.seen, offset=len(self.topic))))


def _group(instance: str, sent: Sent) -> dict[str, Any]:
    """What Spark says of one record (scan_summary)."""
    seen, is_row, is_beat = sent.seen, sent.what == "row", sent.what == "beat"
    names = ("path", "changes", "loaded", "load_problem", "load_file", "load_pos", "altered", "requested", "load")
    is_statement = not is_row and not is_beat
    return {
        **dict.fromkeys(names),
        "instance": instance,
        "physical": sent.shard if is_row else None,
        "is_load": False,
        "ddl": sent.what if is_statement else None,
        "ddl_database": "school",
        "is_cut": False,
        "minute": seen.event_ms // MINUTE_MS * MINUTE_MS,
        "alone": seen.offset,
        "first_offset": seen.offset,
        "last_offset": seen.offset,
        "first_change": seen.offset if is_row else None,
        "newest": seen.event_ms,
        "records": 1,
        "unrouted": 0,
        "bad": 0,
        "beat_ms": seen.event_ms if is_beat else None,
    }


def scan_of(summary: Summary, ends: Mapping[str, int]) -> Scan:
    """One of which nobody reads the records."""
    return Scan("", cast("DataFrame", None), summary, ends, repeated=False, gaps={}, place=lambda *_: "")


class KilledError(Exception):
    """The process ends behind a commit."""


@dataclass
class Capture:
    """The table: where it stands, its last commit, and in `order` what was merged: (instance, number of the record)."""

    servers: Sequence[Server]
    chance: random.Random
    state: CommitState = field(default_factory=CommitState)
    committed: str = ""
    order: list[tuple[str, int]] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)

    def step(self, kills: float) -> None:
        """A pass over some of what is there; a process that was not killed goes on from its own state."""
        if self.chance.random() < kills:
            self.state = CommitState.from_json(self.committed) or CommitState()
        topics = {server.instance: self._readable(server) for server in self.servers}
        try:
            self._pass(topics, kills)
        except KilledError:
            self.state = CommitState.from_json(self.committed) or CommitState()

    def is_behind(self, server: Server) -> bool:
        """Whether records of its topic wait."""
        return self.state.offsets.get(topic_of(server.instance), 0) < len(server.topic)

    def _readable(self, server: Server) -> list[Sent]:
        start = self.state.offsets.get(topic_of(server.instance), 0)
        left = len(server.topic) - start
        count = left if self.chance.random() < 0.5 else self.chance.randrange(left + 1)
        return [sent for sent in server.topic[start : start + count] if sent.what != "tombstone"]

    def _pass(self, topics: dict[str, list[Sent]], kills: float) -> None:
        state, reached = self.state, {name: self.state.offsets.get(topic_of(name), 0) for name in TABLE.instances}
        groups = [_group(name, sent) for name, topic in topics.items() for sent in topic]
        binlogs = {name: binlog_of([s.seen for s in topic], name) for name, topic in topics.items() if topic}
        ends = {name: topic[-1].seen.offset + 1 for name, topic in topics.items() if topic}
        scan = scan_of(Summary(groups, binlogs), ends)
        watched = readable_scan(scan, [TABLE], {TABLE.name: state}, reached, SPARSE, {})
        streams = watched.streams(TABLE, state)
        newest = max((mark.newest_ms for stream in streams for mark in stream.marks), default=0)
        slice_ends = open_slice_ends(TABLE, UTC, state.closed, state.merged_ms, newest)
        plan = make_plan(streams, slice_ends, max(state.closed.values(), default=None))
        effects = table_effects(TABLE, scan, watched.order, state)
        order = replace(watched.order, holds=effects.holds)
        batches = cut_at(plan.batches, (effect[:2] for effect in effects.rows))
        effect_of = effects_by_batch(effects.rows, batches)
        rows = [self._rows_of(batch, topics, order.again) for batch in batches]
        for index, batch in fold_empty(batches, [bool(mine) or at in effect_of for at, mine in enumerate(rows)]):
            after = state_behind(self.state, batch, COLUMNS, order)
            if not (rows[index] or index in effect_of or batch.closes or after.holds != self.state.holds):
                self.state = after
                continue
            self.state = next_state(TABLE, self.state, batch, (), COLUMNS, order)
            self.order += rows[index]
            if index in effect_of:
                place = effect_of[index]
                number = next(s.number for s in topics[place.instance] if s.seen.offset == place.offset)
                self.order.append((place.instance, number))
            self.closed += [(slice_end.end_ms, len(self.order)) for slice_end in batch.closes]
            self.committed = self.state.to_json()
            if self.chance.random() < kills:
                raise KilledError

    @staticmethod
    def _rows_of(batch: PlannedBatch, topics: dict[str, list[Sent]], again: Any) -> list[tuple[str, int]]:
        return [
            (name, sent.number)
            for name, topic in topics.items()
            for sent in topic
            if sent.what == "row"
            and sent.seen.offset in batch.spans[name]
            and not any(span.holds(sent.seen.offset, sent.seen.position) for span in again.get(name, ()))
        ]

    def check(self) -> None:
        """Everything was merged once, each instance's in its order, and what a slice has is what was before its end."""
        for server in self.servers:
            rows = [sent.number for sent in server.written if sent.what == "row" or _has_effect(sent.what)]
            assert self._once(server, self.order) == rows, server.instance
        for end_ms, count in self.closed:
            for server in self.servers:
                there = self._once(server, self.order[:count])
                before, passing = _before(server, end_ms)
                assert there in (before, before + passing), (end_ms, server.instance, there, before, passing)

    @staticmethod
    def _once(server: Server, order: Sequence[tuple[str, int]]) -> list[int]:
        """What was merged of an instance; its newest transaction may be merged twice, to the same end."""
        once: list[int] = []
        for number in (number for name, number in order if name == server.instance):
            if once and number <= once[-1]:
                gtids = {server.written[at].seen.gtid for at in (number, once[-1])}
                assert number in once, (server.instance, number, once)
                assert len(gtids) == 1, (server.instance, number, once)
            else:
                once.append(number)
        return once


def _has_effect(what: str) -> bool:
    return what.startswith("TRUNCATE") or "DEFAULT" in what


def _before(server: Server, end_ms: int) -> tuple[list[int], list[int]]:
    """What was written before the first record at or past the end, and the transaction that passes it.

    All of that belongs to the slice behind, or to this one where a part of it was merged before its end was there.
    """
    by_gtid: dict[int, list[Sent]] = defaultdict(list)
    for sent in server.written:
        assert sent.seen.gtid is not None
        by_gtid[sent.seen.gtid.sequence].append(sent)
    before: list[int] = []
    for transaction in by_gtid.values():
        mine = [sent.number for sent in transaction if sent.what == "row" or _has_effect(sent.what)]
        times = [sent.seen.event_ms for sent in transaction]
        if max(times) >= end_ms:
            return before, mine if min(times) < end_ms else []
        before += mine
    return before, []


def live(seed: int, rounds: int = 3) -> Capture:
    """A random life of two servers and their capture, which ends with heartbeats of a later slice and a last pass."""
    chance = random.Random(seed)
    servers = [Server(name, chance, START + chance.randrange(290_000)) for name in TABLE.instances]
    capture = Capture(servers, chance)
    for _ in range(rounds):
        for server in servers:
            server.live(chance.randrange(1, 9))
        capture.step(kills=0.3)
    late_ms = max(server.clock_ms for server in servers) + 600_000
    for server in servers:
        server.clock_ms = late_ms
        server.beat()
    while any(capture.is_behind(server) for server in servers):
        capture.step(kills=0.1)
    return capture

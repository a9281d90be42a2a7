"""Random binlogs as a topic shows them, with what can go wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from hypothesis import strategies as st

from tidemark.capture.binlog.columnar_binlog import COLUMNS, Binlog, binlogs_of
from tidemark.capture.binlog.consecutive_records import Seen
from tidemark.capture.binlog.position import Gtid, Position

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

SECOND = 1000
TYPES = {"offset": pa.int64(), "event_ms": pa.int64(), "binlog_pos": pa.int64(), "binlog_row": pa.int32()}
SCHEMA = pa.schema([(name, TYPES.get(name, pa.string())) for name in COLUMNS])


def binlog_of(records: Iterable[Seen], instance: str = "a") -> Binlog:
    """As a pass has them, of MariaDB's domain 1."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for seen in records:
        gtid = seen.gtid and f"{seen.gtid.origin}-{seen.gtid.sequence}"
        row = (instance, seen.offset, seen.event_ms, f"{seen.base}.{seen.position.file:06d}", *seen.position[1:], gtid)
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(value)
    return binlogs_of(pa.table(columns, SCHEMA))[instance]


@dataclass
class Log:
    """A server that writes records; `topic` is what arrived of them."""

    chance: random.Random
    dense: bool
    file: int = 1
    pos: int = 4
    sequence: int = 0
    clock_ms: int = 100 * 60_000
    written: list[Seen] = field(default_factory=list)
    topic: list[Seen] = field(default_factory=list)

    def write(self, count: int) -> None:
        """Transactions of one to three rows; now and then the log rotates, and others write transactions, too."""
        for _ in range(count):
            if self.chance.random() < 0.1:
                self.file, self.pos = self.file + 1, 4
            self.pos += self.chance.randrange(1, 50)
            self.sequence += 1 if self.dense else self.chance.randrange(1, 3)
            self.clock_ms += self.chance.choice([0, 1, 20, 90]) * SECOND
            for row in range(self.chance.randrange(1, 4)):
                gtid = Gtid("1", self.sequence)
                self._arrive(Seen(0, "binlog", Position(self.file, self.pos, row), self.clock_ms, gtid))

    def _arrive(self, seen: Seen) -> None:
        self.written.append(seen)
        self.topic.append(replace(seen, offset=self._next_offset()))

    def _next_offset(self) -> int:
        # Tombstones and records of no binlog lie between.
        return (self.topic[-1].offset if self.topic else -1) + self.chance.choice([1, 1, 1, 2])

    def send_again(self, count: int) -> None:
        """The connector starts again, some records back; a restart may come before it has caught up."""
        tail = self.written[-count:] if count else []
        cut = self.chance.randrange(len(tail) + 1) if self.chance.random() < 0.3 else len(tail)
        for entry in [*tail[:cut], *(tail if cut < len(tail) else [])]:
            self.topic.append(replace(entry, offset=self._next_offset()))

    def lose_files(self) -> None:
        self.rotate()
        self.lose_transaction()

    def rotate(self) -> None:
        """Restarts in a row: files with nothing in them."""
        self.file, self.pos = self.file + self.chance.randrange(2, 4), 4

    def lose_transaction(self) -> None:
        self.sequence += 1

    def begin_anew(self) -> None:
        """RESET MASTER, some time later."""
        self.file, self.pos, self.sequence = 1, 4, 0
        self.clock_ms += 60 * SECOND


ACTIONS = ("write", "write", "again", "lose_files", "rotate", "lose_transaction", "begin_anew")


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """A log after some actions; the last one is to write, so that everything shows."""
    log = Log(draw(st.randoms(use_true_random=True)), draw(st.booleans()))
    log.write(draw(st.integers(1, 8)))
    for action in draw(st.lists(st.sampled_from(ACTIONS), max_size=4)):
        match action:
            case "write":
                log.write(draw(st.integers(1, 8)))
            case "again":
                log.send_again(draw(st.integers(1, 12)))
            case "lose_files":
                log.lose_files()
            case "rotate":
                log.rotate()
            case "lose_transaction":
                log.lose_transaction()
            case _:
                log.begin_anew()
    log.write(2)
    return log

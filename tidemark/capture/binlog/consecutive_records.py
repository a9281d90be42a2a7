"""Runs: consecutive records of a topic whose positions grow, as one summary. The order is judged by runs alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import Gtid, Position


@dataclass(frozen=True)
class Seen:
    """One record of a binlog as its topic has it. `base` is the log's name, `event_ms` the server's clock."""

    offset: int
    base: str
    position: Position
    event_ms: int
    gtid: Gtid | None = None


@dataclass(frozen=True)
class Run:
    """Records from `start` up to the next run's start: one log, one event minute, growing positions in one file.

    `first` and `last` are positions, `first_ms` is the first event time and `newest_ms` the newest. All GTIDs have one
    origin and one `Novelty`, and do not go back; dense ones have no gap. Other records, such as tombstones, may lie
    between.
    """

    start: int
    base: str
    first: Position
    last: Position
    first_ms: int
    newest_ms: int
    origin: str | None = None
    first_sequence: int = 0
    last_sequence: int = 0


MINUTE_MS = 60_000


class Novelty(IntEnum):
    """How a record's transaction relates to earlier ones of its origin.

    AGAIN is the newest transaction for a second time. Later rows of a transaction have the novelty of its first row.
    """

    OLDER = -1
    AGAIN = 0
    NEW = 1


@dataclass
class _Transactions:
    """The newest transaction of each origin; `novelty` is the previous record's."""

    newest: dict[str, int]
    before: Seen | None = None
    novelty: Novelty = field(default=Novelty.NEW)

    def see(self, record: Seen) -> Novelty:
        self.novelty, self.before = self._novelty(record), record
        if record.gtid is not None:
            self.newest[record.gtid.origin] = max(record.gtid.sequence, self.newest.get(record.gtid.origin, -1))
        return self.novelty

    def _novelty(self, record: Seen) -> Novelty:
        newest = None if record.gtid is None else self.newest.get(record.gtid.origin)
        if record.gtid is None or newest is None or record.gtid.sequence > newest:
            return Novelty.NEW
        if record.gtid.sequence < newest:
            return Novelty.OLDER
        goes_on = self.before is not None and _follows(self.before, record)
        return Novelty.NEW if goes_on and self.novelty is Novelty.NEW else Novelty.AGAIN


def runs_of(records: Iterable[Seen], policy: BinlogPolicy, known: Mapping[str, int]) -> Iterator[Run]:
    """The runs of records that are sorted by offset. `columnar_binlog` does the same for many records.

    `known` has, by origin, the newest transaction that was read before the first record.
    """
    run: Run | None = None
    minute, novelty, transactions = 0, Novelty.NEW, _Transactions(dict(known))
    for record in records:
        before, novelty = novelty, transactions.see(record)
        same = novelty is before and record.event_ms // MINUTE_MS == minute
        if run is not None and same and _goes_on(run, record, policy):
            sequence = record.gtid.sequence if record.gtid else 0
            newest = max(run.newest_ms, record.event_ms)
            run = replace(run, last=record.position, newest_ms=newest, last_sequence=sequence)
            continue
        if run is not None:
            yield run
        run, minute = _begin_run(record), record.event_ms // MINUTE_MS
    if run is not None:
        yield run


def _begin_run(seen: Seen) -> Run:
    origin, sequence = (seen.gtid.origin, seen.gtid.sequence) if seen.gtid else (None, 0)
    return Run(
        seen.offset, seen.base, seen.position, seen.position, seen.event_ms, seen.event_ms, origin, sequence, sequence
    )


def _follows(before: Seen, seen: Seen) -> bool:
    same_log = (seen.base, seen.position.file) == (before.base, before.position.file)
    same_origin = (seen.gtid and seen.gtid.origin) == (before.gtid and before.gtid.origin)
    return same_log and same_origin and seen.position > before.position


def _goes_on(run: Run, seen: Seen, policy: BinlogPolicy) -> bool:
    origin, sequence = (seen.gtid.origin, seen.gtid.sequence) if seen.gtid else (None, 0)
    same_log = seen.base == run.base and seen.position.file == run.last.file and seen.position > run.last
    step = sequence - run.last_sequence
    return same_log and origin == run.origin and (step in {0, 1} or (step > 1 and not policy.dense_gtids))

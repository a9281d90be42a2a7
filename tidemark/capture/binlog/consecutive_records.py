"""Records of one topic whose positions grow one after the other, summed up: all that the order is judged by."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import Gtid, Position


@dataclass(frozen=True)
class Seen:
    """One record of a binlog as its topic has it: `base` is its log's name, `event_ms` the server's clock."""

    offset: int
    base: str
    position: Position
    event_ms: int
    gtid: Gtid | None = None


@dataclass(frozen=True)
class Run:
    """Records from `start` up to the next run's start: one log, positions that grow within a file, one event minute.

    `first` and `last` are their positions, `first_ms` the first one's event time and `newest_ms` the newest; the GTIDs
    are of one origin, do not go back, and have no hole where they are dense. Others (tombstones) may lie between.
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


def runs_of(records: Iterable[Seen], policy: BinlogPolicy) -> Iterator[Run]:
    """The runs of records in the order of their offsets; `binlog.binlog` does the same with many."""
    run: Run | None = None
    minute = 0
    for record in records:
        if run is not None and record.event_ms // MINUTE_MS == minute and _goes_on(run, record, policy):
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


def _goes_on(run: Run, seen: Seen, policy: BinlogPolicy) -> bool:
    origin, sequence = (seen.gtid.origin, seen.gtid.sequence) if seen.gtid else (None, 0)
    same_log = seen.base == run.base and seen.position.file == run.last.file and seen.position > run.last
    step = sequence - run.last_sequence
    return same_log and origin == run.origin and (step in {0, 1} or (step > 1 and not policy.dense_gtids))

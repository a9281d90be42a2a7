"""Judges the next records of a binlog against its progress: they go on, were read before, or show a gap.

Debezium delivers at least once, so after a restart it sends records again. A position that was read before is not an
error, and its record is skipped. If the server wrote the record after everything that was read, it is not a repetition.
Then the log began from the start (RESET MASTER, another server, a restored one), and both a merge and a skip would be
wrong.

Positions of two servers cannot be compared, even if their files have the same names. So if a log does not go on, GTIDs
decide. Take the sequence of the transaction (MariaDB's domain, MySQL's server):

* The transaction after the last one that was read is the next one, wherever it is.
* A transaction that was read before is a copy.
* A later transaction shows that some are missing.

A transaction newer than all that were read is never skipped. The last one may have been read in part when its server
died. If it comes from another server, it is taken in again. That changes nothing, because nothing newer was read.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice, pairwise
from typing import Any, Self

from tidemark.capture.binlog.consecutive_records import Run
from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.capture.binlog.gtid_policy import SPARSE, BinlogPolicy
from tidemark.capture.binlog.position import Position, domain_of, sequence_of

_ANY = Position(2**62, 0)
"""A place after every place of a log."""


@dataclass(frozen=True)
class BinlogProgress:
    """The furthest position in the log `base`, the newest event time (epoch ms), and the last GTID of each origin."""

    base: str
    position: Position
    event_ms: int
    gtids: Mapping[str, int] = field(default_factory=dict)

    def newest_like(self, origin: str) -> int | None:
        """The newest transaction in the origin's sequence: that of its MariaDB domain, or its own."""
        sequence = sequence_of(origin)
        return max((last for other, last in self.gtids.items() if sequence_of(other) == sequence), default=None)

    def to_json(self) -> list[Any]:
        """The form that a commit stores."""
        return [self.base, list(self.position), self.event_ms, dict(self.gtids)]

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> Self:
        """The progress of a value from `to_json`."""
        base, position, event_ms, gtids = entry
        return cls(base, Position(*position), event_ms, gtids)


@dataclass(frozen=True)
class Again:
    """Records from offset `start` up to `end` whose position is at most `until` were read before, and are skipped.

    `end` None means up to the end of the judged records.
    """

    start: int
    end: int | None
    until: Position

    def holds(self, offset: int, position: Position) -> bool:
        """Whether this record was read before."""
        return self.start <= offset and (self.end is None or offset < self.end) and position <= self.until


class _Verdict(Enum):
    """How a run relates to the progress: it goes on in the log (or repeats a part), begins a new log, or is a copy."""

    GOES_ON = "goes on"
    NEXT_LOG = "next log"
    READ_BEFORE = "read before"


@dataclass(frozen=True)
class JudgedRun:
    """A run, the progress before it, and the verdict."""

    run: Run
    before: BinlogProgress | None
    verdict: _Verdict

    def progress_after(self, part: Run) -> BinlogProgress:
        """The progress after `part`: the run, or its first records."""
        if self.before is None or self.verdict is _Verdict.NEXT_LOG:
            return _begin(part, self.before)
        return self.before if self.verdict is _Verdict.READ_BEFORE else _after(self.before, part)


@dataclass(frozen=True)
class Judged:
    """The runs that may be read, in order. `finding` is where reading ends (or None), `gaps` are accepted findings."""

    steps: Sequence[JudgedRun]
    again: Sequence[Again]
    finding: BinlogFinding | None
    gaps: Sequence[BinlogFinding] = ()

    def step_at(self, end: int) -> JudgedRun | None:
        """The run of the last record before offset `end`, which may lie inside the run; None if there is none."""
        count = bisect_left(self.steps, end, key=lambda step: step.run.start)
        return self.steps[count - 1] if count else None

    def progress(self, before: BinlogProgress | None) -> BinlogProgress | None:
        """The progress after all runs; `before` if there are none."""
        return self.steps[-1].progress_after(self.steps[-1].run) if self.steps else before


def judge(
    instance: str,
    before: BinlogProgress | None,
    runs: Sequence[Run],
    policy: BinlogPolicy,
    accepted: Collection[int] = (),
) -> Judged:
    """Judge the runs after `before`, up to the first one with a finding that is not accepted.

    `accepted` has offsets. An accepted run is taken in as if a new log began with it.
    """
    steps: list[JudgedRun] = []
    again: list[Again] = []
    gaps: list[BinlogFinding] = []
    progress = before
    for place, (run, end) in enumerate(zip(runs, [*(run.start for run in runs[1:]), None], strict=False)):
        verdict = _Verdict.NEXT_LOG if progress is None else _verdict(instance, progress, runs, place, policy)
        if isinstance(verdict, BinlogFinding):
            if run.start not in accepted:
                return Judged(steps, again, verdict, gaps)
            gaps.append(verdict)
            verdict = _Verdict.NEXT_LOG
        if verdict is _Verdict.READ_BEFORE:
            _repeat(again, Again(run.start, end, _ANY))
        elif verdict is _Verdict.GOES_ON and progress is not None and run.first <= progress.position:
            _repeat(again, Again(run.start, end, progress.position))
        steps.append(JudgedRun(run, progress, verdict))
        progress = steps[-1].progress_after(run)
    return Judged(steps, again, None, gaps)


def _repeat(again: list[Again], skipped: Again) -> None:
    """Add a range, joined to the last one if they touch: a redelivered topic is one entry, however many runs it has."""
    if again and (again[-1].end, again[-1].until) == (skipped.start, skipped.until):
        again[-1] = Again(again[-1].start, skipped.end, skipped.until)
    else:
        again.append(skipped)


def _begin(run: Run, before: BinlogProgress | None) -> BinlogProgress:
    gtids = dict(before.gtids if before else {})
    if run.origin is not None:
        gtids[run.origin] = run.last_sequence
    return BinlogProgress(run.base, run.last, run.newest_ms, gtids)


def _after(progress: BinlogProgress, run: Run) -> BinlogProgress:
    gtids = dict(progress.gtids)
    if run.origin is not None:
        gtids[run.origin] = max(run.last_sequence, gtids.get(run.origin, 0))
    return BinlogProgress(progress.base, max(progress.position, run.last), max(progress.event_ms, run.newest_ms), gtids)


def _verdict(
    instance: str, progress: BinlogProgress, runs: Sequence[Run], place: int, policy: BinlogPolicy
) -> _Verdict | BinlogFinding:
    """The verdict by positions, or by GTIDs if positions do not go on: two servers' positions cannot be compared."""
    run = runs[place]
    goes_on = run.base == progress.base and run.first > progress.position
    if _is_copy(progress, run):
        return _Verdict.READ_BEFORE
    if not goes_on and run.origin is not None and progress.gtids:
        answer = _by_gtids(progress, runs, place)
    else:
        answer = _by_positions(progress, run, policy)
    return answer if isinstance(answer, _Verdict) else BinlogFinding(instance, run.start, *answer)


def _is_copy(progress: BinlogProgress, run: Run) -> bool:
    """Whether the run only has transactions before the last one. A server's own numbers grow in each MariaDB log."""
    if run.origin is None or domain_of(run.origin) is None or run.newest_ms > progress.event_ms:
        return False
    known, newest = progress.gtids.get(run.origin), progress.newest_like(run.origin)
    return known is not None and newest is not None and run.last_sequence <= min(known, newest - 1)


def _by_gtids(progress: BinlogProgress, runs: Sequence[Run], place: int) -> _Verdict | tuple[FindingKind, str]:
    """The verdict on a log with unexpected positions: another server's log, or the same log again."""
    run = runs[place]
    origin = run.origin or ""
    if run.last_sequence > progress.gtids.get(origin, -1):
        return _newer(progress, run)
    if run.newest_ms <= progress.event_ms:
        is_last = run.first_sequence == run.last_sequence == progress.newest_like(origin)
        if is_last and _is_another_servers(progress, runs, place):
            return _Verdict.NEXT_LOG
        if run.base != progress.base:
            return _Verdict.READ_BEFORE
    return _by_positions(progress, run, SPARSE)


def _newer(progress: BinlogProgress, run: Run) -> _Verdict | tuple[FindingKind, str]:
    """The verdict on newer transactions: the next one of the sequence continues the log.

    Any other one is a finding, because some may be missing before it.
    """
    newest = progress.newest_like(run.origin or "")
    if newest is not None and run.first_sequence == newest + 1:
        return _Verdict.NEXT_LOG
    at, came = _position_text(progress.base, progress.position), _position_text(run.base, run.first)
    which = f"{run.origin}:{newest + 1}" if newest is not None else f"one of {', '.join(sorted(progress.gtids))}"
    detail = f"after {at}, the next position is {came} with transaction {run.origin}:{run.first_sequence}, not {which}"
    return FindingKind.OTHER_LOG, detail


def _is_another_servers(progress: BinlogProgress, runs: Sequence[Run], place: int) -> bool:
    """Whether the last transaction that was read comes from another server's log; False with several sequences.

    In the log of its own server, newer transactions lie after everything that was read, and the transaction ends where
    reading ended. If it comes once more after this run, that later run decides.
    """
    run = runs[place]
    if len({sequence_of(origin) for origin in progress.gtids}) > 1:
        return False
    if run.base != progress.base:
        return True
    last = run.last
    for before, after in pairwise(islice(runs, place, None)):
        if not _follows(before, after):
            return after.first_sequence > run.last_sequence and last < progress.position
        if after.first_sequence > run.last_sequence:
            return last < progress.position or after.first <= progress.position
        last = after.last
    return last < progress.position


def _follows(before: Run, run: Run) -> bool:
    """Whether a run is later in the same log, without a file between."""
    return run.base == before.base and run.first > before.last and run.first.file <= before.last.file + 1


def _by_positions(progress: BinlogProgress, run: Run, policy: BinlogPolicy) -> _Verdict | tuple[FindingKind, str]:
    at = _position_text(progress.base, progress.position)
    came = _position_text(run.base, run.first)
    if run.base != progress.base:
        return FindingKind.OTHER_LOG, f"after {at}, the next position is {came}"
    if run.first <= progress.position:
        newest_again = run.newest_ms if run.last <= progress.position else run.first_ms
        if newest_again > progress.event_ms:
            return FindingKind.REGRESSED, f"after {at}, the next position is {came}, which the server wrote later"
        return _Verdict.GOES_ON
    if run.first.file > progress.position.file + 1 and not _is_next_transaction(progress, run):
        first, last = progress.position.file + 1, run.first.file - 1
        return FindingKind.FILES_MISSING, f"{_files(run.base, first, last)} did not arrive between {at} and {came}"
    known = progress.newest_like(run.origin or "")
    if policy.dense_gtids and known is not None and run.first_sequence > known + 1:
        detail = f"{run.origin} goes from {known} to {run.first_sequence} between {at} and {came}"
        return FindingKind.GTIDS_MISSING, detail
    return _Verdict.GOES_ON


def _is_next_transaction(progress: BinlogProgress, run: Run) -> bool:
    """Whether nothing can be missing, whatever the files are: the log has one sequence, and its next transaction came.

    A server that restarts, or rotates its log, twice in a row leaves an empty file between.
    """
    is_alone = {sequence_of(origin) for origin in progress.gtids} == {sequence_of(run.origin or "")}
    return is_alone and run.first_sequence - 1 == progress.newest_like(run.origin or "")


def _position_text(base: str, position: Position) -> str:
    return f"{base}.{position.file:06d}:{position.pos}"


def _files(base: str, first: int, last: int) -> str:
    return f"{base}.{first:06d}" if first == last else f"{base}.{first:06d} to {base}.{last:06d}"

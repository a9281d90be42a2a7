"""How far an instance's binlog was read, and what the next records are to that: more of it, again, or a gap.

Debezium sends records again after a restart of its own (at least once), so a position that was read before is no
error: the record is skipped. It cannot be a repetition when the server wrote it after everything that was read; then
the log began anew (RESET MASTER, another server, a restored one), and merging it or skipping it would both be wrong.

Positions of two servers cannot be compared, also where their files have the same names. So where a log does not go on,
GTIDs decide: the transaction after the last one that was read of its sequence (MariaDB's domain, MySQL's server) is the
next one wherever it is, one that was read is a copy, and a later one means that some are missing. One that is newer
than all that were read is never skipped, wherever it is. The last one may have been read in part when its server died:
from another server it is taken in again, which changes nothing, as nothing newer was.
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
"""Behind every place of a log."""


@dataclass(frozen=True)
class BinlogProgress:
    """The furthest position of the log `base`, the newest event time (epoch ms), and per origin the last GTID."""

    base: str
    position: Position
    event_ms: int
    gtids: Mapping[str, int] = field(default_factory=dict)

    def newest_like(self, origin: str) -> int | None:
        """The newest transaction of the sequence that the origin's belong to: its MariaDB domain's, or its own."""
        sequence = sequence_of(origin)
        return max((last for other, last in self.gtids.items() if sequence_of(other) == sequence), default=None)

    def to_json(self) -> list[Any]:
        """As it travels in a commit."""
        return [self.base, list(self.position), self.event_ms, dict(self.gtids)]

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> Self:
        """What `to_json` gave."""
        base, position, event_ms, gtids = entry
        return cls(base, Position(*position), event_ms, gtids)


@dataclass(frozen=True)
class Again:
    """Of the records from offset `start` up to `end`, those at or before `until` were read before: skipped.

    `end` is None up to the end of what was judged.
    """

    start: int
    end: int | None
    until: Position

    def holds(self, offset: int, position: Position) -> bool:
        """Whether that record was read before."""
        return self.start <= offset and (self.end is None or offset < self.end) and position <= self.until


class _Verdict(Enum):
    """What a run is to what was read: more of its log (or some of it again), the next log, or a copy of what was."""

    GOES_ON = "goes on"
    NEXT_LOG = "next log"
    READ_BEFORE = "read before"


@dataclass(frozen=True)
class JudgedRun:
    """A run and what it is to the progress before it."""

    run: Run
    before: BinlogProgress | None
    verdict: _Verdict

    def progress_after(self, part: Run) -> BinlogProgress:
        """How far the log is read behind `part`: the run, or its first records."""
        if self.before is None or self.verdict is _Verdict.NEXT_LOG:
            return _begin(part, self.before)
        return self.before if self.verdict is _Verdict.READ_BEFORE else _after(self.before, part)


@dataclass(frozen=True)
class Judged:
    """`steps` are the runs in order; `finding` is where reading ends, None if nowhere, `gaps` are accepted findings."""

    steps: Sequence[JudgedRun]
    again: Sequence[Again]
    finding: BinlogFinding | None
    gaps: Sequence[BinlogFinding] = ()

    def step_at(self, end: int) -> JudgedRun | None:
        """The run of the last record before offset `end`, which may lie inside of the run; None if there is none."""
        count = bisect_left(self.steps, end, key=lambda step: step.run.start)
        return self.steps[count - 1] if count else None

    def progress(self, before: BinlogProgress | None) -> BinlogProgress | None:
        """How far the log was read by all runs; `before` if there is none."""
        return self.steps[-1].progress_after(self.steps[-1].run) if self.steps else before


def judge(
    instance: str,
    before: BinlogProgress | None,
    runs: Sequence[Run],
    policy: BinlogPolicy,
    accepted: Collection[int] = (),
) -> Judged:
    """Go through the runs after `before`, up to the first that may not follow and is not among `accepted` offsets.

    An accepted run is what someone said to go on with: it is taken in as if the log began with it.
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
    """A topic that was redelivered as a whole is one entry, however many runs it has."""
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
    """By GTIDs where positions do not grow, as those of two servers cannot be compared; else by positions."""
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
    """Of transactions before the last one, wherever they lie: a server's own numbers grow in each MariaDB log."""
    if run.origin is None or domain_of(run.origin) is None or run.newest_ms > progress.event_ms:
        return False
    known, newest = progress.gtids.get(run.origin), progress.newest_like(run.origin)
    return known is not None and newest is not None and run.last_sequence <= min(known, newest - 1)


def _by_gtids(progress: BinlogProgress, runs: Sequence[Run], place: int) -> _Verdict | tuple[FindingKind, str]:
    """Of a log whose positions are not those that were expected: another server's, or the same one's once more."""
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
    """The next transaction of the sequence is more of what was read, and any other one may lack some before it."""
    newest = progress.newest_like(run.origin or "")
    if newest is not None and run.first_sequence == newest + 1:
        return _Verdict.NEXT_LOG
    at, came = _position_text(progress.base, progress.position), _position_text(run.base, run.first)
    which = f"{run.origin}:{newest + 1}" if newest is not None else f"one of {', '.join(sorted(progress.gtids))}"
    detail = f"read was {at}, then came {came} with transaction {run.origin}:{run.first_sequence}, not {which}"
    return FindingKind.OTHER_LOG, detail


def _is_another_servers(progress: BinlogProgress, runs: Sequence[Run], place: int) -> bool:
    """Whether the transaction that was read last comes from another server's log; False where sequences are several.

    In its own server's log what is newer lies behind all that was read, and it reaches as far itself. Where it comes
    once more behind this, that one decides.
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
    """Whether it lies behind in the same log, and there is no file between."""
    return run.base == before.base and run.first > before.last and run.first.file <= before.last.file + 1


def _by_positions(progress: BinlogProgress, run: Run, policy: BinlogPolicy) -> _Verdict | tuple[FindingKind, str]:
    at = _position_text(progress.base, progress.position)
    came = _position_text(run.base, run.first)
    if run.base != progress.base:
        return FindingKind.OTHER_LOG, f"read was {at}, then came {came}"
    if run.first <= progress.position:
        newest_again = run.newest_ms if run.last <= progress.position else run.first_ms
        if newest_again > progress.event_ms:
            return FindingKind.REGRESSED, f"read was {at}, then came {came}, which the server wrote later"
        return _Verdict.GOES_ON
    if run.first.file > progress.position.file + 1 and not _is_next_transaction(progress, run):
        first, last = progress.position.file + 1, run.first.file - 1
        return FindingKind.FILES_MISSING, f"nothing came of {_files(run.base, first, last)} between {at} and {came}"
    known = progress.newest_like(run.origin or "")
    if policy.dense_gtids and known is not None and run.first_sequence > known + 1:
        detail = f"of {run.origin} came {known}, then {run.first_sequence}, between {at} and {came}"
        return FindingKind.GTIDS_MISSING, detail
    return _Verdict.GOES_ON


def _is_next_transaction(progress: BinlogProgress, run: Run) -> bool:
    """Whether nothing can be missing, whatever the files are: one origin wrote the log, and its next transaction came.

    A server that is restarted, or told to rotate its log, twice in a row leaves a file between with nothing in it.
    """
    is_alone = {sequence_of(origin) for origin in progress.gtids} == {sequence_of(run.origin or "")}
    return is_alone and run.first_sequence - 1 == progress.newest_like(run.origin or "")


def _position_text(base: str, position: Position) -> str:
    return f"{base}.{position.file:06d}:{position.pos}"


def _files(base: str, first: int, last: int) -> str:
    return f"{base}.{first:06d}" if first == last else f"{base}.{first:06d} to {base}.{last:06d}"

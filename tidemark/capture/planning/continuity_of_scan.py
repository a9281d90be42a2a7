"""Binlog continuity in one pass: the records that may be merged, and the progress of each instance after them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.capture.binlog.columnar_binlog import Binlog
from tidemark.capture.binlog.continuity import Again, BinlogProgress, Judged, judge
from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import Position
from tidemark.capture.commits.holds import HoldEvent
from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.slow_clock import Spans, is_slow, slow_spans
from tidemark.capture.initial_load.load_events import LoadEvent
from tidemark.capture.source.scan_summary import Summary


@dataclass(frozen=True)
class BinlogOrder:
    """How each instance's binlog goes on in a pass. An instance without positions is not in `judged`.

    `binlogs` are the judged records; a cut may lie between any two. `beats` are heartbeats. `loads` are where tables
    lack rows, `holds` what holds tags back and ends that; during a merge both are of one table. `accepted` has, by
    instance, the offsets of accepted findings.
    """

    judged: Mapping[str, Judged] = field(default_factory=dict)
    binlogs: Mapping[str, Binlog] = field(default_factory=dict)
    beats: Mapping[str, Sequence[Beat]] = field(default_factory=dict)
    loads: Sequence[LoadEvent] = ()
    holds: Sequence[HoldEvent] = ()
    accepted: Mapping[str, Collection[int]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[BinlogFinding, ...]:
        """The findings that end reading before the end of the records."""
        return tuple(judgement.finding for judgement in self.judged.values() if judgement.finding is not None)

    @property
    def again(self) -> Mapping[str, tuple[Again, ...]]:
        """By instance, the records that were read before."""
        return {instance: tuple(judgement.again) for instance, judgement in self.judged.items() if judgement.again}

    def is_repeated(self, instance: str, offset: int, position: Position | None) -> bool:
        """Whether the record came before, and was not the last one that came."""
        ranges = self.again.get(instance, ())
        return position is not None and any(
            skipped.holds(offset, position) and position < skipped.until for skipped in ranges
        )

    def was_read(self, instance: str, offset: int, position: Position | None) -> bool:
        """Whether the statement at this offset was read before, even as the last record.

        A statement on several tables is several records at one position, and they count as read if the first one does.
        The first record of a pass may continue the records at the end of the last pass, so it counts as unread.
        """
        if position is None:
            return False
        first, is_begin = self.binlogs[instance].first_at_place(offset)
        return any(
            skipped.holds(first, position) and (position < skipped.until or not is_begin)
            for skipped in self.again.get(instance, ())
        )

    def end_offset(self, instance: str, default: int) -> int:
        """The offset where reading ends: before a finding, else `default`."""
        judged = self.judged.get(instance)
        return default if judged is None or judged.finding is None else min(default, judged.finding.offset)

    def progress_at(self, instance: str, end: int, before: BinlogProgress | None) -> BinlogProgress | None:
        """The progress of the binlog at the last record before offset `end`."""
        judged = self.judged.get(instance)
        step = None if judged is None else judged.step_at(end)
        return before if step is None else step.progress_after(self.binlogs[instance].part(step.run, end))

    @property
    def newest_beats(self) -> Mapping[str, int]:
        """The time (epoch ms) of each instance's newest heartbeat, even if it waits behind a finding."""
        return {name: max(beat.beat_ms for beat in beats) for name, beats in self.beats.items() if beats}

    def beat_at(self, instance: str, end: int, before: int | None) -> int | None:
        """The newest heartbeat's time (epoch ms) before offset `end`."""
        times = [beat.beat_ms for beat in self.beats.get(instance, ()) if beat.offset < end]
        return max([*times, *([] if before is None else [before])], default=None)

    def is_behind_at(self, instance: str, end: int, *, before: bool) -> bool:
        """Whether the last heartbeat before offset `end` shows that the server's clock is slow."""
        beats = [beat for beat in self.beats.get(instance, ()) if beat.offset < end]
        return is_slow(beats[-1]) if beats else before

    def slow_spans(self, before: Collection[str]) -> Mapping[str, Spans]:
        """By instance, the offsets at which its clock is slow. Clocks in `before` were slow before this pass."""
        spans_of = {name: slow_spans(self.beats.get(name, ()), name in before) for name in {*self.beats, *before}}
        return {name: spans for name, spans in spans_of.items() if spans}


def judge_binlogs(
    summary: Summary,
    before: Mapping[str, BinlogProgress],
    policy: BinlogPolicy,
    accepted: Mapping[str, Collection[int]],
) -> BinlogOrder:
    """Judge the records of each instance by its earlier progress."""
    judged = {
        instance: judge(instance, before.get(instance), runs, policy, accepted.get(instance, ()))
        for instance, runs in summary.runs(policy, before).items()
    }
    return BinlogOrder(judged, summary.binlogs)

"""The part of a scan that a table may read: up to where binlogs are complete, with times from trusted clocks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.binlog.dropped_shards import vanished_shards
from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import BinlogPlace
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.heartbeat.distinct_heartbeats import beats_once
from tidemark.capture.heartbeat.judged_clocks import JudgedClocks, judge_clocks
from tidemark.capture.heartbeat.trusted_times import trust_times
from tidemark.capture.initial_load.load_events import LoadEvent, missing
from tidemark.capture.planning.commit_planner import ReadTransaction, TopicStream
from tidemark.capture.planning.continuity_of_scan import BinlogOrder, judge_binlogs
from tidemark.capture.planning.table_loads import loads_of_table
from tidemark.capture.planning.unlogged_effects import new_drops
from tidemark.capture.source.scan import Scan
from tidemark.capture.source.scan_summary import Summary
from tidemark.capture.source_table import SourceTable, topic_of

AcceptedOffsets = Mapping[str, Collection[int]]
States = Mapping[str, CommitState]


@dataclass(frozen=True)
class ReadableScan:
    """A scan with the order of its binlogs. `gone` has, by table and instance, the first shard that was dropped.

    `blocked` are (table, instance) pairs whose next record is not in the scan: the table does not read the instance.
    """

    scan: Scan
    order: BinlogOrder
    clocks: JudgedClocks
    gone: Mapping[str, Mapping[str, BinlogFinding]]
    blocked: Collection[tuple[str, str]] = ()

    def streams(self, source: SourceTable, state: CommitState) -> list[TopicStream]:
        """The table's streams, which the planner cuts."""
        return [self._stream(source, instance, state) for instance in source.instances]

    def findings_of(self, source: SourceTable) -> tuple[BinlogFinding, ...]:
        """The findings that end reading of some of the table's instances."""
        whole = (finding for finding in self.order.findings if finding.instance in source.instances)
        return (*whole, *self.gone[source.name].values())

    def _stream(self, source: SourceTable, instance: str, state: CommitState) -> TopicStream:
        start = state.offsets.get(topic_of(instance), 0)
        end = max(start, self._end(source, instance, start))
        marks = [mark for mark in self.scan.summary.marks.get(instance, ()) if mark.first_offset < end]
        beats = [beat for beat in self.clocks.closing.get(instance, ()) if beat.offset < end]
        trust = trust_times(marks, beats, beaten=instance in state.beats)
        return TopicStream(
            instance=instance,
            next_offset=start,
            end_offset=end,
            marks=trust.marks,
            merged_ms=state.watermarks.get(instance),
            sure_until=trust.sure_until,
            transactions=self._transactions(instance, state, end),
            missing=missing(
                instance,
                state.initial_load_pending,
                loads_of_table(source, self.scan.summary, state, self.order.loads),
            ),
        )

    def _transactions(self, instance: str, state: CommitState, end: int) -> list[ReadTransaction]:
        """The transactions that cross the end of a minute before offset `end`."""
        start, progress = state.offsets.get(topic_of(instance), 0), state.positions.get(instance)
        known = progress.gtids if progress else {}
        return [
            ReadTransaction(
                transaction.first,
                min(transaction.last, end - 1),
                has_begun=transaction.first < start or known.get(transaction.origin) == transaction.sequence,
                may_go_on=transaction.last >= end - 1,
            )
            for transaction in self.scan.summary.transactions.get(instance, ())
            if start <= transaction.last and transaction.first < end
        ]

    def _end(self, source: SourceTable, instance: str, start: int) -> int:
        if (source.name, instance) in self.blocked:
            return start
        end = self.order.end_offset(instance, self.scan.end_offset(instance, start))
        gone = self.gone[source.name].get(instance)
        return end if gone is None else min(end, gone.offset)


def readable_scan(
    scan: Scan,
    sources: Sequence[SourceTable],
    states: States,
    reached: Mapping[str, int],
    policy: BinlogPolicy,
    accepted: AcceptedOffsets,
    blocked: Collection[tuple[str, str]] = (),
) -> ReadableScan:
    """Judge the scan by what the tables have read. `reached` are the next offsets of the instances."""
    progress = _progress(states, reached)
    order = judge_binlogs(scan.summary, progress, policy, accepted)
    clocks = judge_clocks(beats_once(scan.summary.beats, order.again))
    loads = loads_of_missing_rows(
        scan.summary, progress, {shard for state in states.values() for shard in state.watermarks}
    )
    order = replace(order, beats=clocks.beats, loads=loads, accepted=accepted)
    gone = {source.name: _find_vanished(source, scan, states[source.name], order) for source in sources}
    return ReadableScan(scan, order, clocks, gone, blocked)


def _progress(states: States, reached: Mapping[str, int]) -> dict[str, BinlogProgress]:
    """By instance, the binlog progress of the table that is furthest behind."""
    return {
        instance: state.positions[instance]
        for instance, offset in reached.items()
        for state in states.values()
        if instance in state.positions and state.offsets.get(topic_of(instance)) == offset
    }


def _find_vanished(source: SourceTable, scan: Scan, state: CommitState, order: BinlogOrder) -> dict[str, BinlogFinding]:
    """By instance, the first drop of a shard that has rows."""
    first = {f"{instance}.{physical}": offset for (instance, physical), offset in scan.summary.first_changes.items()}
    earlier = dict.fromkeys(state.watermarks, 0)
    return vanished_shards(new_drops(source, scan, state, order), {**first, **earlier}, order.accepted)


def loads_of_missing_rows(
    summary: Summary, progress: Mapping[str, BinlogProgress], captured: Collection[str]
) -> tuple[LoadEvent, ...]:
    """Where tables lack rows, without shards whose changes were read up to where the connector goes on.

    `progress` is each instance's progress before the scan; `captured` are the shards with changes in the lake.
    """
    return tuple(event for event in summary.missing_rows if not _goes_on(event, summary, progress, captured))


def _goes_on(
    event: LoadEvent, summary: Summary, progress: Mapping[str, BinlogProgress], captured: Collection[str]
) -> bool:
    first = summary.first_changes.get((event.instance, event.physical))
    if event.shard not in captured and (first is None or first >= event.offset):
        return False
    before, binlog = progress.get(event.instance), summary.binlogs.get(event.instance)
    read = binlog.last_before(event.offset) if binlog else None
    if read is None and before is not None:
        read = BinlogPlace(before.base, before.position)
    # Without GTIDs, a position may be of another server's binlog.
    has_gtids = (binlog is not None and binlog.has_gtids) or (before is not None and bool(before.gtids))
    return has_gtids and read is not None and event.place is not None and event.place.is_within(read)

"""The status of captured tables: progress, waiting Kafka records, heartbeats and rate."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.commits.commit_state import Commit, CommitState
from tidemark.capture.epoch_time import utc
from tidemark.capture.heartbeat.idle_or_broken import Diagnosis, Health
from tidemark.capture.heartbeat.liveness import Liveness
from tidemark.capture.source_table import SourceTable, topic_of

RATE_WINDOW = timedelta(hours=1)
RECORDED = timedelta(days=30)
"""Older heartbeats, on an instance without a writer, are from a recording and do not mean a broken instance."""


@dataclass(frozen=True)
class ShardStatus:
    """A physical table (`a.school.orders_3`): its newest merged event (UTC), and changes a second in the last hour."""

    shard: str
    watermark: datetime
    rate: float


@dataclass(frozen=True)
class StreamStatus:
    """An instance as read by a table: all changes up to `read_to` (UTC) are known.

    `lag` is the number of unread records in the topic, None if its end is unknown.
    """

    offset: int
    lag: int | None
    diagnosis: Diagnosis
    halted: tuple[BinlogFinding, ...]
    read_to: datetime | None = None


@dataclass(frozen=True)
class TableStatus:
    """A captured table. `watermark` is the time up to which every instance is read, None before the first change.

    `late` counts, by entity and slice, the changes that came after the snapshot was tagged. `initial_load_pending` are
    shards with an incomplete initial load. `quarantined_columns` are not in the lake.
    """

    table: str
    watermark: datetime | None
    last_snapshot: str | None
    shards: tuple[ShardStatus, ...]
    streams: Mapping[str, StreamStatus]
    late: Mapping[str, Mapping[str, int]]
    initial_load_pending: tuple[str, ...] = ()
    quarantined_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Around:
    """Facts that a table's own log does not have: the topics' ends, halting findings, and the time.

    `beats` are each instance's newest heartbeats (epoch ms); `looked` is when its capture last looked for changes. If
    no heartbeats are `written`, and the last ones are old, the captured data is a recording.
    """

    ends: Mapping[str, int]
    halted: Sequence[BinlogFinding]
    now: datetime
    beats: Mapping[str, int] = field(default_factory=dict)
    looked: Mapping[str, datetime] = field(default_factory=dict)
    written: bool = True


def table_status(source: SourceTable, commits: Iterable[Commit], around: Around) -> TableStatus:
    """The status by the table's commits, newest first. Reading stops at commits before the window."""
    recent: list[Commit] = []
    newest: Commit | None = None
    last_tagged: str | None = None
    for commit in commits:
        newest = newest or commit
        if last_tagged is None and commit.state.closes and not commit.state.holds.open:
            last_tagged = commit.state.closes[-1].slice
        if around.now - commit.at <= RATE_WINDOW:
            recent.append(commit)
        elif last_tagged is not None:
            break
    state = newest.state if newest else CommitState()
    return TableStatus(
        table=source.name,
        watermark=_watermark(source, state),
        last_snapshot=last_tagged,
        shards=_shards(state, recent),
        streams={instance: _stream(source, instance, state, around) for instance in source.instances},
        late=state.late,
        initial_load_pending=state.initial_load_pending,
        quarantined_columns=tuple(state.columns.quarantined.values()),
    )


def _watermark(source: SourceTable, state: CommitState) -> datetime | None:
    times = [state.watermarks.get(instance) for instance in source.instances]
    known = [ms for ms in times if ms is not None]
    return utc(min(known)) if known and len(known) == len(times) else None


def _shards(state: CommitState, recent: Iterable[Commit]) -> tuple[ShardStatus, ...]:
    changes: Counter[str] = Counter()
    for commit in recent:
        changes.update(commit.state.counts)
    return tuple(
        ShardStatus(shard, utc(ms), changes[shard] / RATE_WINDOW.total_seconds())
        for shard, ms in sorted(state.watermarks.items())
        if "." in shard
    )


def _stream(source: SourceTable, instance: str, state: CommitState, around: Around) -> StreamStatus:
    offset = state.offsets.get(topic_of(instance), 0)
    end = around.ends.get(instance)
    beat = max((beat[instance] for beat in (state.beats, around.beats) if instance in beat), default=None)
    return StreamStatus(
        offset=offset,
        lag=None if end is None else max(0, end - offset),
        diagnosis=_diagnosis(source, instance, state, None if beat is None else utc(beat), around),
        halted=tuple(
            finding for finding in around.halted if finding.instance == instance and _touches(finding, source)
        ),
        read_to=None if (read_ms := state.watermarks.get(instance)) is None else utc(read_ms),
    )


def _diagnosis(
    source: SourceTable, instance: str, state: CommitState, beat: datetime | None, around: Around
) -> Diagnosis:
    if beat is not None and not around.written and around.now - beat > RECORDED:
        at = beat.isoformat(sep=" ", timespec="seconds")
        reason = f"the heartbeats of {instance} are a recording, the last one was at {at}"
        return Diagnosis(instance, Health.UNKNOWN, beat, reason)
    changes = [ms for shard, ms in state.watermarks.items() if shard.startswith(f"{instance}.")]
    heard = Liveness(around.looked, {} if beat is None else {instance: beat})
    return heard.diagnosis(instance, utc(max(changes)) if changes else None, around.now, source.threshold)


def _touches(finding: BinlogFinding, source: SourceTable) -> bool:
    if finding.shard is None:
        return True
    return source.holds(finding.instance, finding.shard.partition(".")[2])

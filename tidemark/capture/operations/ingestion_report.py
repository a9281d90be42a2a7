"""The result of one ingestion step, and the snapshots that wait."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import AcceptedOffsets
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.epoch_time import utc
from tidemark.capture.planning.commit_planner import OpenSliceEnd, UntaggedSliceEnd
from tidemark.state_store.snapshot_registry import TaggedSnapshot


@dataclass(frozen=True)
class SnapshotWaiting:
    """A slice that cannot be tagged yet. Times are UTC.

    `blockers` are instances with the newest event time that was read. `idle` has, for each of their shards, how much
    older its newest event is than the instance's: heartbeats go on while a shard is silent. `halted` are the findings
    that halt blockers.
    """

    entity: str
    period: str
    slice: str
    end: datetime
    blockers: tuple[tuple[str, datetime | None], ...]
    idle: Mapping[str, timedelta]
    halted: tuple[BinlogFinding, ...] = ()

    def __str__(self) -> str:
        blockers = ", ".join(
            f"instance {name} is at {at:%Y-%m-%d %H:%M:%S}" if at else f"nothing came from instance {name}"
            for name, at in self.blockers
        )
        silent = ", ".join(f"{shard} silent for {time}" for shard, time in self.idle.items() if time >= _WORTH_SAYING)
        reasons = [blockers, *([silent] if silent else []), *(f"halted, {finding}" for finding in self.halted)]
        return f"{self.entity} {self.slice} (until {self.end:%Y-%m-%d %H:%M:%S}): {'; '.join(reasons)}"


_WORTH_SAYING = timedelta(minutes=10)
_SHOWN_HOLDS = 3


@dataclass(frozen=True)
class IngestReport:
    """Merged changes and late changes by table, tagged snapshots, waiting slices, and warnings as text.

    `halted` are the findings that halt instances, in the order of the binlogs.
    """

    changes: Mapping[str, int]
    late: Mapping[str, int]
    commits: int
    closed: tuple[TaggedSnapshot, ...]
    waiting: tuple[SnapshotWaiting, ...]
    warnings: tuple[str, ...]
    seconds: float
    halted: tuple[BinlogFinding, ...] = ()


def missed_warnings(missed: Iterable[SliceEnd]) -> list[str]:
    """Warnings about slices that were never tagged and cannot be any more, one for each entity."""
    return [f"{slices}: never tagged, because later changes are merged already" for slices in _by_entity(missed)]


def untagged_warnings(untagged: Sequence[UntaggedSliceEnd]) -> list[str]:
    """Warnings about slices without a tag because rows of their tables were missing, one for each entity."""
    shards = ", ".join(dict.fromkeys(shard for slice_end in untagged for shard in slice_end.shards))
    why = f"never tagged, because earlier rows of {shards} were missing (tidemark capture load requests them)"
    return [f"{slices}: {why}" for slices in _by_entity(slice_end.slice_end for slice_end in untagged)]


def held_warnings(state: CommitState, accepted: AcceptedOffsets) -> list[str]:
    """Warnings about slices that end in a held version and so get no tag."""
    holds = state.holds.holds_to_accept(accepted)
    if not holds:
        return []
    why = "; ".join(str(hold.finding) for hold in holds[:_SHOWN_HOLDS])
    more = f" and {len(holds) - _SHOWN_HOLDS} more" if len(holds) > _SHOWN_HOLDS else ""
    return [f"{slices}: not tagged, held: {why}{more}" for slices in _by_entity(state.closes)]


def _by_entity(slice_ends: Iterable[SliceEnd]) -> list[str]:
    slices: dict[str, list[str]] = {}
    for slice_end in slice_ends:
        slices.setdefault(slice_end.entity, []).append(slice_end.slice)
    return [f"{entity} {_span(keys)}" for entity, keys in slices.items()]


def _span(slices: Sequence[str]) -> str:
    return slices[0] if len(slices) == 1 else f"{slices[0]} to {slices[-1]} ({len(slices)} slices)"


def snapshot_waiting(
    waiting: OpenSliceEnd, watermarks: Mapping[str, int], halted: Sequence[BinlogFinding]
) -> SnapshotWaiting:
    """The planner's answer with times; `watermarks` are the table's (instance or shard -> epoch ms)."""
    instances = {name for name, _ in waiting.blockers}
    newest = {name: ms for name, ms in waiting.blockers if ms is not None}
    idle = {
        shard: timedelta(milliseconds=newest[instance] - ms)
        for shard, ms in watermarks.items()
        if (instance := shard.partition(".")[0]) in newest and shard not in instances
    }
    return SnapshotWaiting(
        entity=waiting.slice_end.entity,
        period=waiting.slice_end.period,
        slice=waiting.slice_end.slice,
        end=utc(waiting.slice_end.end_ms),
        blockers=tuple((name, None if ms is None else utc(ms)) for name, ms in waiting.blockers),
        idle=idle,
        halted=tuple(finding for finding in halted if finding.instance in instances),
    )

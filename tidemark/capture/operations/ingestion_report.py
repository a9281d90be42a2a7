"""What one ingestion step did, and what waits for what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.commits.slice_end import Boundary
from tidemark.capture.epoch_time import utc
from tidemark.capture.planning.commit_planner import OpenBoundary, UntaggedBoundary
from tidemark.state_store.snapshot_registry import TaggedSnapshot


@dataclass(frozen=True)
class SnapshotWaiting:
    """A slice that cannot be named yet. Times are UTC.

    `blockers` are (instance, newest event time read of it); `idle` per shard of those the time that its own newest
    event is older than its instance's newest: heartbeats go on while the shard is silent. `halted` says of blockers why
    nothing more of them is taken in.
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


@dataclass(frozen=True)
class IngestReport:
    """Changes merged and of these late ones per table, snapshots named, slices that wait, and warnings in words.

    `halted` are findings in the order of the instances' binlogs, from which on nothing is taken in.
    """

    changes: Mapping[str, int]
    late: Mapping[str, int]
    commits: int
    closed: tuple[TaggedSnapshot, ...]
    waiting: tuple[SnapshotWaiting, ...]
    warnings: tuple[str, ...]
    seconds: float
    halted: tuple[BinlogFinding, ...] = ()


def missed_warnings(missed: Iterable[Boundary]) -> list[str]:
    """Slices that were never named and cannot be any more, a line an entity."""
    return [f"{slices}: never named, the changes of later times are merged" for slices in _by_entity(missed)]


def unnamed_warnings(unnamed: Sequence[UntaggedBoundary]) -> list[str]:
    """Slices that get no name as their tables were not whole, a line an entity."""
    shards = ", ".join(dict.fromkeys(shard for boundary in unnamed for shard in boundary.shards))
    why = f"never named, rows of {shards} from before were not all there (tidemark capture load asks for them)"
    return [f"{slices}: {why}" for slices in _by_entity(boundary.boundary for boundary in unnamed)]


def _by_entity(boundaries: Iterable[Boundary]) -> list[str]:
    slices: dict[str, list[str]] = {}
    for boundary in boundaries:
        slices.setdefault(boundary.entity, []).append(boundary.slice)
    return [f"{entity} {_span(keys)}" for entity, keys in slices.items()]


def _span(slices: Sequence[str]) -> str:
    return slices[0] if len(slices) == 1 else f"{slices[0]} to {slices[-1]} ({len(slices)} slices)"


def snapshot_waiting(
    waiting: OpenBoundary, watermarks: Mapping[str, int], halted: Sequence[BinlogFinding]
) -> SnapshotWaiting:
    """A planner's answer in words of time; `watermarks` are the table's (instance or shard -> epoch ms)."""
    instances = {name for name, _ in waiting.blockers}
    newest = {name: ms for name, ms in waiting.blockers if ms is not None}
    idle = {
        shard: timedelta(milliseconds=newest[instance] - ms)
        for shard, ms in watermarks.items()
        if (instance := shard.partition(".")[0]) in newest and shard not in instances
    }
    return SnapshotWaiting(
        entity=waiting.boundary.entity,
        period=waiting.boundary.period,
        slice=waiting.boundary.slice,
        end=utc(waiting.boundary.end_ms),
        blockers=tuple((name, None if ms is None else utc(ms)) for name, ms in waiting.blockers),
        idle=idle,
        halted=tuple(finding for finding in halted if finding.instance in instances),
    )

"""The metadata of a Delta commit of captured changes: offsets, watermarks, counts and the slices that it tags.

It is the commit's `userMetadata`, written in the same atomic step as the data. A restart reads it back, so there is no
second copy that could differ (docs/paths.md, "The path of a record").
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.holds import Holds
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.delta.commit_info import IDENTITY, Transaction
from tidemark.delta.open_table import open_if_there
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation

APP = "tidemark.capture"
FIRST_LOOK = 20


@dataclass(frozen=True)
class CommitState:
    """The state after a commit. Times are epoch milliseconds.

    State of the table:

    - `batch`: the number of this table's commits, from 1.
    - `offsets`: the next offset, by topic. `topic_ids`: the ids of these topics, if known.
    - `watermarks`: the newest merged event time, by instance and by shard.
    - `positions`: by instance, how far its binlog was read. `beats`: the time of its newest heartbeat.
    - `behind`: the instances whose clocks are slow by that heartbeat.
    - `closed`: by entity, the end of the newest slice tagged so far.
    - `late`: by entity and slice, the late changes so far.
    - `waits`: the ends of waiting for late changes that are still to come.
    - `initial_load_pending`: shards whose initial load has not ended.
    - `reloads`, `audited`: ids of the newest reload requests and audit entries that were taken in.
    - `holds`: while there are any, the version may differ from the source, and its slices are not tagged.
    - `lease`: the lease for the next commit.

    Facts about this commit:

    - `counts`: `changes`, `late`, and the changes of each shard.
    - `closes`: the slices whose snapshot is this version.
    - `restates`: the tagged slices that its late changes belong to.
    - `settles`: the slices whose waiting ends with this commit.
    - `minutes`: the net number of rows of each minute of the counted column, since 1970 on the column's clock.
    - `identity`: the commit's identity. `fencing_token`: the token of the lease that made it.
    - `follows`: the version that the commit was planned on, None for a new start. No other program may have changed
      rows between the two versions.
    """

    batch: int = 0
    offsets: Mapping[str, int] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    closes: tuple[SliceEnd, ...] = ()
    closed: Mapping[str, int] = field(default_factory=dict)
    columns: TableColumns = field(default_factory=TableColumns)
    positions: Mapping[str, BinlogProgress] = field(default_factory=dict)
    beats: Mapping[str, int] = field(default_factory=dict)
    behind: tuple[str, ...] = ()
    late: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    restates: tuple[SliceEnd, ...] = ()
    initial_load_pending: tuple[str, ...] = ()
    settles: tuple[SliceEnd, ...] = ()
    waits: tuple[SliceEnd, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    reloads: tuple[str, ...] = ()
    audited: tuple[str, ...] = ()
    identity: str = ""
    lease: CaptureLease | None = None
    fencing_token: int = 0
    follows: int | None = None
    holds: Holds = field(default_factory=Holds)
    minutes: Mapping[int, int] = field(default_factory=dict)

    @property
    def merged_ms(self) -> int:
        """The newest event time of the instances, epoch ms.

        Times of shards are ignored: they may be from a wrong clock.
        """
        return max((ms for name, ms in self.watermarks.items() if "." not in name), default=0)

    @property
    def tagged_until(self) -> int | None:
        """The end (epoch ms) of the newest tagged slice of any entity."""
        return max(self.closed.values(), default=None)

    def next(self, **counts: int) -> "CommitState":
        """The state of the next commit with these counts, which tags, restates and settles no slice."""
        said = replace(self, batch=self.batch + 1, counts=counts, closes=(), restates=(), settles=(), follows=None)
        return replace(said, minutes={})

    def with_identity(self, table: str) -> "CommitState":
        """The state with the identity of its commit: a hash of the identity before it, the batch, and the lease.

        So a batch with the same number from another capture has another identity.
        """
        lease = [self.lease.holder, self.lease.fencing_token] if self.lease else []
        said = json_text([table, self.identity, self.batch, sorted(self.offsets.items()), lease])
        return replace(self, identity=hashlib.sha256(said.encode()).hexdigest()[:32])

    def transaction(self, table: str) -> Transaction:
        """The Delta transaction of a state that has its identity."""
        return Transaction(f"{APP}:{table}", self.batch, self.to_json(), self.identity)

    @property
    def late_batch(self) -> int:
        """The newest batch that may have late changes stored beside the table: this batch, or the one before it."""
        return self.batch if self.own_restates else self.batch - 1

    @property
    def own_restates(self) -> tuple[SliceEnd, ...]:
        """`restates` if this commit has late changes, else empty.

        The field may be carried over from an earlier commit.
        """
        return self.restates if self.counts.get("late") else ()

    def to_json(self) -> str:
        """The text of the userMetadata."""
        return json_text(
            {
                "app": APP,
                "batch": self.batch,
                "offsets": dict(self.offsets),
                "watermarks": dict(self.watermarks),
                "counts": dict(self.counts),
                "closes": _as_lists(self.closes),
                "closed": dict(self.closed),
                **self.columns.to_json(),
                "positions": {instance: progress.to_json() for instance, progress in self.positions.items()},
                "beats": dict(self.beats),
                "behind": list(self.behind),
                "late": {entity: dict(slices) for entity, slices in self.late.items()},
                "restates": _as_lists(self.restates),
                "initial_load_pending": list(self.initial_load_pending),
                "settles": _as_lists(self.settles),
                "waits": _as_lists(self.waits),
                "topic_ids": dict(self.topic_ids),
                "reloads": list(self.reloads),
                "audited": list(self.audited),
                IDENTITY: self.identity,
                "follows": self.follows,
                **({"writer": self.lease.writer, "fencing_token": self.lease.fencing_token} if self.lease else {}),
                **self.holds.to_json(),
                **({"minutes": dict(self.minutes)} if self.minutes else {}),
            }
        )

    @classmethod
    def from_json(cls, text: str | None) -> "CommitState | None":
        """The state in a commit's userMetadata; None for another program's commit."""
        try:
            entry = json.loads(text or "null")
        except json.JSONDecodeError:
            return None
        if not isinstance(entry, dict) or entry.get("app") != APP:
            return None
        return cls(
            batch=entry["batch"],
            offsets=entry["offsets"],
            watermarks=entry["watermarks"],
            counts=entry["counts"],
            closes=_slice_ends(entry["closes"]),
            closed=entry["closed"],
            columns=TableColumns.from_json(entry),
            positions={
                instance: BinlogProgress.from_json(progress)
                for instance, progress in entry.get("positions", {}).items()
            },
            beats=entry.get("beats", {}),
            behind=tuple(entry.get("behind", ())),
            late=entry.get("late", {}),
            restates=_slice_ends(entry.get("restates", ())),
            initial_load_pending=tuple(entry.get("initial_load_pending", ())),
            settles=_slice_ends(entry.get("settles", ())),
            waits=_slice_ends(entry.get("waits", ())),
            topic_ids=entry.get("topic_ids", {}),
            reloads=tuple(entry.get("reloads", ())),
            audited=tuple(entry.get("audited", ())),
            identity=entry.get(IDENTITY, ""),
            fencing_token=entry.get("fencing_token", 0),
            follows=entry.get("follows"),
            holds=Holds.from_json(entry),
            minutes={int(minute): rows for minute, rows in entry.get("minutes", {}).items()},
        )


def _as_lists(slice_ends: Iterable[SliceEnd]) -> list[list[str | int]]:
    return [
        [
            slice_end.entity,
            slice_end.period,
            slice_end.slice,
            slice_end.end_ms,
            *([slice_end.late_ms] if slice_end.late_ms else []),
        ]
        for slice_end in slice_ends
    ]


def _slice_ends(listed: Iterable[Sequence[Any]]) -> tuple[SliceEnd, ...]:
    return tuple(SliceEnd(end, entity, period, key, *late) for entity, period, key, end, *late in listed)


@dataclass(frozen=True)
class Commit:
    """One version of a table that capture wrote; `at` is the time of the commit."""

    version: int
    at: datetime
    state: CommitState


def commits(path: TableLocation) -> Iterator[Commit]:
    """Capture's own commits, newest first; empty if there is no table."""
    table = open_if_there(path)
    if table is None:
        return
    seen = 0
    for limit in (FIRST_LOOK, None):
        history = table.history(limit)
        for entry in history[seen:]:
            state = CommitState.from_json(entry.get("userMetadata"))
            if state is not None:
                at = datetime.fromtimestamp(entry["timestamp"] / 1000, tz=UTC)
                yield Commit(int(entry["version"]), at, state)
        seen = len(history)


def last_commit(path: TableLocation) -> Commit | None:
    """Capture's newest commit in this table; None before the first one."""
    return next(commits(path), None)

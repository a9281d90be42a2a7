"""Finds tags of the capture: a tagged snapshot has arrived, and may be checked and used.

A candidate counts too: the slice's run checks it, and tags it if its blocking rules pass. A restated snapshot is
requested again, like a repaired one: its rules are checked again, and downstream slices follow their policies.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.center.fact import Fact
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.delta.repaired_version import repairs_of
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState
from tidemark.state_store.snapshot_candidates import CandidateVerdict
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.snapshot_candidates import Candidate
    from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
    from tidemark.system.table_location import TableLocation

CURSOR: Final = "restated snapshots"
_UNDER_WAY: Final = frozenset({RunState.LAUNCHED, RunState.RUNNING})
_OVER: Final = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.ABSENT})
_HELD: Final = frozenset({Quality.PASSED, Quality.IGNORED})


class SnapshotDetector:
    """Reads tags and candidates of every captured entity; `path_of` gives its table."""

    def __init__(
        self,
        registry: SnapshotRegistry,
        center: DependencyCenter,
        read: StateReader,
        path_of: Callable[[str], TableLocation],
    ) -> None:
        self._registry, self._center, self._read, self._path_of = registry, center, read, path_of
        self._past_repair: set[tuple[TableLocation, int]] = set()

    def poll(self) -> int:
        """Report new tags and candidates; returns the number of released slices."""
        names = [name for name in self._center.graph if self._is_captured(name)]
        candidates = {name: self._registry.candidates.of(name, self._period(name)) for name in names}
        self._take_repairs(candidate for some in candidates.values() for candidate in some)
        self._ask_again()
        now, facts = datetime.now(UTC), []
        for name in names:
            # During a restatement, a run checks the candidate and not the tag.
            arrived = {
                tag.slice: (tag, _why(tag), _facts_of(tag)) for tag in self._registry.of(name, self._period(name))
            }
            for candidate in candidates[name]:
                snapshot = candidate.snapshot
                arrived[snapshot.slice] = (snapshot, f"version {snapshot.version} is to be checked", Facts())
            for snapshot, why, data in arrived.values():
                status = self._center.status(slice_ := Slice(name, snapshot.slice))
                if status.run_state is RunState.WAITING and not snapshot.waits_for_late:
                    event_id = f"snapshot:{slice_}:{status.generation}"
                    facts.append(Fact(event_id, slice_, Event.RELEASED, now, "capture", why, data=data))
            for candidate in candidates[name]:
                facts += self._of_lost_tag(Slice(name, candidate.snapshot.slice), candidate, now)
        return self._center.report(facts).new if facts else 0

    def _is_captured(self, name: str) -> bool:
        entity = self._center.graph.entity(name)
        return bool(entity.source or entity.snapshot_of)

    def _period(self, name: str) -> str:
        return str(self._center.graph.entity(name).period)

    def _of_lost_tag(self, slice_: Slice, candidate: Candidate, now: datetime) -> list[Fact]:
        """A slice with a lost tag is tagged again if the transitions say that this version passed.

        Otherwise the slice is requested and checked again.
        """
        status, snapshot = self._center.status(slice_), candidate.snapshot
        if status.run_state is not RunState.COMPLETED or candidate.verdict is not CandidateVerdict.PENDING:
            return []
        if snapshot.restatement or snapshot.waits_for_late:
            return []
        if self._has_passed(slice_, status, snapshot):
            self._registry.candidates.publish(snapshot, now)
            return []
        event_id = f"snapshot:{slice_}:unjudged:{status.generation}"
        why = f"version {snapshot.version} was not checked"
        return [Fact(event_id, slice_, Event.BACKFILL_REQUESTED, now, "capture", why)]

    def _has_passed(self, slice_: Slice, status: SliceStatus, snapshot: TaggedSnapshot) -> bool:
        """Whether the rules of exactly this version passed, by the transitions."""
        if status.quality not in _HELD or snapshot.is_restated:
            return False
        told = [step.facts.snapshot_id for step in self._read.history(slice_) if step.event is Event.COMPLETED]
        return bool(told) and told[-1] == str(snapshot.version)

    def _take_repairs(self, candidates: Iterable[Candidate]) -> None:
        """A repair on top of a refused version is checked instead, unless another change followed."""
        for candidate in candidates:
            snapshot = candidate.snapshot
            path = self._path_of(snapshot.entity)
            if candidate.verdict is CandidateVerdict.PENDING or (path, snapshot.version) in self._past_repair:
                continue
            repairs = repairs_of(path, snapshot.version)
            if repairs.last is not None:
                rows = table_metrics(path, version=repairs.last).rows
                self._registry.candidates.repaired(snapshot, repairs.last, rows)
            elif repairs.is_over:
                self._past_repair.add((path, snapshot.version))

    def _ask_again(self) -> None:
        """Request restated snapshots again; slices without a computation will use the restated snapshot anyway."""
        before, now, facts = int(self._read.cursor(CURSOR) or 0), datetime.now(UTC), []
        after = before
        for snapshot in self._registry.restatements_after(before):
            slice_ = Slice(snapshot.entity, snapshot.slice)
            if snapshot.entity in self._center.graph:
                run_state = self._center.status(slice_).run_state
                if run_state in _UNDER_WAY:
                    break  # that run may have read the old snapshot: request it again when the run is over
                if run_state in _OVER:
                    event_id = f"snapshot:{slice_}:restated:{snapshot.generation}"
                    facts.append(Fact(event_id, slice_, Event.BACKFILL_REQUESTED, now, "capture", _why(snapshot)))
            after = snapshot.restatement
        if after > before:
            self._center.report(facts, cursors={CURSOR: str(after)})


def _facts_of(tagged: TaggedSnapshot) -> Facts:
    return Facts(snapshot_id=str(tagged.version), row_count=tagged.rows)


def _why(tagged: TaggedSnapshot) -> str:
    if tagged.generation > 1 and not tagged.is_restated:
        return f"version {tagged.version} is a repair of the refused version, generation {tagged.generation}"
    if tagged.generation > 1:
        return f"version {tagged.version} was restated with late changes, generation {tagged.generation}"
    return f"version {tagged.version} was tagged"

"""Inspection of the capture's tags: a tagged snapshot has arrived, and its slice may be checked and used.

A snapshot that is restated with late changes is asked for again, as what was repaired is: its rules are checked anew,
and what was made of it gets a new generation, as each table's policy says.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.center.fact import Fact
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from tidemark.center.center import DependencyCenter
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

CURSOR: Final = "restated snapshots"
_UNDER_WAY: Final = frozenset({RunState.LAUNCHED, RunState.RUNNING})
_OVER: Final = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.ABSENT})


class SnapshotDetector:
    """Looks at the tags of every entity that is captured."""

    def __init__(self, registry: SnapshotRegistry, center: DependencyCenter, read: StateReader) -> None:
        self._registry, self._center, self._read = registry, center, read

    def poll(self) -> int:
        """Report what has arrived and waits; returns how many slices that released."""
        self._ask_again()
        graph, now, facts = self._center.graph, datetime.now(UTC), []
        for name in graph:
            entity = graph.entity(name)
            if not (entity.source or entity.snapshot_of):
                continue
            for snapshot in self._registry.of(name, str(entity.period)):
                status = self._center.status(slice_ := Slice(name, snapshot.slice))
                if status.run_state is RunState.WAITING and not snapshot.waits_for_late:
                    event_id = f"snapshot:{slice_}:{status.generation}"
                    facts.append(
                        Fact(event_id, slice_, Event.RELEASED, now, "capture", _why(snapshot), data=_facts_of(snapshot))
                    )
        return self._center.report(facts).new if facts else 0

    def _ask_again(self) -> None:
        """Report what was restated since; what nobody computed yet will be computed of the restated one anyway."""
        before, now, facts = int(self._read.cursor(CURSOR) or 0), datetime.now(UTC), []
        after = before
        for snapshot in self._registry.restatements_after(before):
            slice_ = Slice(snapshot.entity, snapshot.slice)
            if snapshot.entity in self._center.graph:
                run_state = self._center.status(slice_).run_state
                if run_state in _UNDER_WAY:
                    break  # that run may have read what was: asked for again when it is over
                if run_state in _OVER:
                    event_id = f"snapshot:{slice_}:restated:{snapshot.generation}"
                    facts.append(Fact(event_id, slice_, Event.BACKFILL_REQUESTED, now, "capture", _why(snapshot)))
            after = snapshot.restatement
        if after > before:
            self._center.report(facts, cursors={CURSOR: str(after)})


def _facts_of(tagged: TaggedSnapshot) -> Facts:
    return Facts(snapshot_id=str(tagged.version), row_count=tagged.rows)


def _why(tagged: TaggedSnapshot) -> str:
    if tagged.generation > 1:
        return f"version {tagged.version} was restated with late changes, generation {tagged.generation}"
    return f"version {tagged.version} was tagged"

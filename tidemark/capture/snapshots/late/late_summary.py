"""The late changes of one table in a pass, and their part in its commits' states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.heartbeat.slow_clock import Spans
from tidemark.capture.snapshots.late.late_minutes import LateMinute
from tidemark.capture.snapshots.late.slices_to_restate import count_late, slices_to_restate
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar


@dataclass(frozen=True)
class LateSummary:
    """`slow` are, by instance, the offsets with a slow clock: no snapshot is restated for changes there."""

    minutes: Sequence[LateMinute] = ()
    slow: Mapping[str, Spans] = field(default_factory=dict)

    def add_to_state(
        self, index: int, before: CommitState, after: CommitState, table: SourceTable, calendar: Calendar
    ) -> CommitState:
        """`after`, the state of the commit of that batch, with the slices of the batch's late changes."""
        mine = [minute for minute in self.minutes if minute.batch == index]
        dated = [minute.minute for minute in mine if minute.dated]
        return replace(
            after,
            late=count_late(
                table, calendar, before.closed, [(minute.minute, minute.changes) for minute in mine], before.late
            ),
            restates=slices_to_restate(table, calendar, before, min(dated, default=None)),
        )

"""How far each table has read each instance, as notes in the state store.

Commands and the audit read them between steps. A table's commits also record this, but a table without changes may have
no commits for hours.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.state_store.database import Database
from tidemark.state_store.fence import Fence
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

NOTES: Final = "capture progress"
"""The kind of the notes: one for each table, with its progress in each instance."""


@dataclass(frozen=True)
class InstanceProgress:
    """Everything before `offset` of the instance's topic is merged into the table.

    `watermark_ms` is the newest event time of it (epoch ms), `binlog` how far the server's log was read.
    """

    offset: int
    watermark_ms: int | None = None
    binlog: BinlogProgress | None = None

    @classmethod
    def of(cls, state: CommitState, instance: str) -> Self:
        """The progress in a table's state."""
        offset = state.offsets.get(topic_of(instance), 0)
        return cls(offset, state.watermarks.get(instance), state.positions.get(instance))

    def to_json(self) -> list[Any]:
        """The stored form."""
        return [self.offset, self.watermark_ms, self.binlog.to_json() if self.binlog else None]

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> Self:
        """The progress of a value from `to_json`."""
        offset, watermark_ms, binlog = entry
        return cls(offset, watermark_ms, BinlogProgress.from_json(binlog) if binlog else None)


class ReadProgress:
    """The progress of all tables after their last step."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def write(
        self, sources: Sequence[SourceTable], states: Mapping[str, CommitState], fences: Iterable[Fence] = ()
    ) -> None:
        """Replace the progress of these tables. Raises FencedError."""
        progress = {
            source.name: {name: InstanceProgress.of(states[source.name], name).to_json() for name in source.instances}
            for source in sources
            if source.name in states
        }
        self._notes.put({table: json_text(entries) for table, entries in progress.items()}, fences)

    def read(self, table: str) -> Mapping[str, InstanceProgress]:
        """The progress of a table by instance; empty before the first step."""
        entries = json.loads(self._notes.get(table) or "{}")
        return {name: InstanceProgress.from_json(entry) for name, entry in entries.items()}

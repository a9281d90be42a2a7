"""How far each table has read each instance: notes in the state store, for those who ask between steps.

A table's commits say it, too, but one in which nothing changes has no commits for hours.
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
"""The kind of the notes: per table what it has read of each instance."""


@dataclass(frozen=True)
class InstanceProgress:
    """Everything of the instance before `offset` of its topic is merged into the table.

    `watermark_ms` is the newest event among that (epoch ms), `binlog` how far the server's log was read.
    """

    offset: int
    watermark_ms: int | None = None
    binlog: BinlogProgress | None = None

    @classmethod
    def of(cls, state: CommitState, instance: str) -> Self:
        """What a table's state says."""
        offset = state.offsets.get(topic_of(instance), 0)
        return cls(offset, state.watermarks.get(instance), state.positions.get(instance))

    def to_json(self) -> list[Any]:
        """As it is noted."""
        return [self.offset, self.watermark_ms, self.binlog.to_json() if self.binlog else None]

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> Self:
        """What `to_json` gave."""
        offset, watermark_ms, binlog = entry
        return cls(offset, watermark_ms, BinlogProgress.from_json(binlog) if binlog else None)


class ReadProgress:
    """Of all tables, as the last steps left them."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def write(
        self, sources: Sequence[SourceTable], states: Mapping[str, CommitState], fences: Iterable[Fence] = ()
    ) -> None:
        """Of these tables, in the place of what was there. Raises FencedError."""
        progress = {
            source.name: {name: InstanceProgress.of(states[source.name], name).to_json() for name in source.instances}
            for source in sources
            if source.name in states
        }
        self._notes.put({table: json_text(entries) for table, entries in progress.items()}, fences)

    def read(self, table: str) -> Mapping[str, InstanceProgress]:
        """Per instance of a table; nothing before the first step."""
        entries = json.loads(self._notes.get(table) or "{}")
        return {name: InstanceProgress.from_json(entry) for name, entry in entries.items()}

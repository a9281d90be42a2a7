"""How far each table has read each instance: a file beside the warehouse, for those who ask between steps.

A table's commits say it, too, but one in which nothing changes has no commits for hours.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.system.files import replace_text
from tidemark.system.settings import Settings


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
        """As it stands in the file."""
        return [self.offset, self.watermark_ms, self.binlog.to_json() if self.binlog else None]

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> Self:
        """What `to_json` gave."""
        offset, watermark_ms, binlog = entry
        return cls(offset, watermark_ms, BinlogProgress.from_json(binlog) if binlog else None)


class ReadProgress:
    """Of all tables of a warehouse, as the last step left them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "ReadProgress":
        """Those of a warehouse."""
        return cls(settings.data / "capture" / "progress.json")

    def write(self, sources: Sequence[SourceTable], states: Mapping[str, CommitState]) -> None:
        """In the place of what was there, at once."""
        progress = {
            source.name: {name: InstanceProgress.of(states[source.name], name).to_json() for name in source.instances}
            for source in sources
            if source.name in states
        }
        replace_text(self._path, json.dumps(progress))

    def read(self, table: str) -> Mapping[str, InstanceProgress]:
        """Per instance of a table; nothing before the first step."""
        if not self._path.exists():
            return {}
        entries = json.loads(self._path.read_text(encoding="utf-8")).get(table, {})
        return {name: InstanceProgress.from_json(entry) for name, entry in entries.items()}

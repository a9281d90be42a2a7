"""The findings that halt instances, as notes in the state store. Commands read them between steps."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Final

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.state_store.database import Database
from tidemark.state_store.fence import Fence
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

NOTES: Final = "capture halted"
"""The kind of the notes: one for each instance, with its findings."""


class HaltedSources:
    """The findings of the last step."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def read(self) -> tuple[BinlogFinding, ...]:
        """The findings; empty before the first step."""
        entries = [entry for content in self._notes.all().values() for entry in json.loads(content)]
        return tuple(BinlogFinding(**{**finding, "kind": FindingKind(finding["kind"])}) for finding in entries)

    def write(self, instances: Iterable[str], findings: Sequence[BinlogFinding], fences: Iterable[Fence] = ()) -> None:
        """Replace the notes of these instances. Raises FencedError."""
        self._notes.put({name: content_of(name, findings) for name in instances}, fences)


def content_of(instance: str, findings: Sequence[BinlogFinding]) -> str:
    """The content of an instance's note."""
    mine = [asdict(finding) for finding in findings if finding.instance == instance]
    return json_text(mine, ensure_ascii=False)

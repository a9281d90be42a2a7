"""What the last step found and halts instances for: a file beside the warehouse, for those who ask in between."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.system.files import replace_text
from tidemark.system.settings import Settings


class HaltedSources:
    """The findings of the last step."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "HaltedSources":
        """Those of a warehouse."""
        return cls(settings.data / "capture" / "halted.json")

    def read(self) -> tuple[BinlogFinding, ...]:
        """Nothing before the first step."""
        if not self._path.exists():
            return ()
        entries = json.loads(self._path.read_text(encoding="utf-8"))
        return tuple(BinlogFinding(**{**finding, "kind": FindingKind(finding["kind"])}) for finding in entries)

    def write(self, findings: Sequence[BinlogFinding]) -> None:
        """In the place of what was there, at once."""
        replace_text(self._path, json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))

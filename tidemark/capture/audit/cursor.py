"""Where a cycle stands: what is before it in the order of shards was looked at, and need not be after a restart."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tidemark.system.files import replace_text

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.system.settings import Settings


@dataclass(frozen=True)
class AuditCursor:
    """The next range of a cycle begins behind `low` of `shard`, or is its slice `slice_`; an empty one is the start.

    Where it `is_behind` the shard, the next one follows.
    """

    table: str = ""
    shard: str = ""
    low: str | None = None
    slice_: int = 0
    is_behind: bool = False


class AuditCursorFile:
    """Of a warehouse; an audit of some tables has the same, and begins anew where it does not know the shard."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> AuditCursorFile:
        """That of a warehouse."""
        return cls(settings.data / "capture" / "audit" / "cursor.json")

    def read(self) -> AuditCursor:
        """The start, where there is none."""
        if not self._path.exists():
            return AuditCursor()
        return AuditCursor(**json.loads(self._path.read_text(encoding="utf-8")))

    def write(self, cursor: AuditCursor) -> None:
        """In the place of what was there."""
        replace_text(self._path, json.dumps(asdict(cursor)))

    def clear(self) -> None:
        """The cycle has ended: the next one begins at the start."""
        self._path.unlink(missing_ok=True)

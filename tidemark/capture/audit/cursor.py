"""The position of a cycle. After a restart the cycle goes on from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

NOTES: Final = "audit cursor"
_NAME: Final = "cycle"


@dataclass(frozen=True)
class AuditCursor:
    """The next range begins above `low` of `shard`, or is the shard's slice `slice_`. An empty cursor is the start.

    With `is_behind` the shard is finished, and the next shard follows.
    """

    table: str = ""
    shard: str = ""
    low: str | None = None
    slice_: int = 0
    is_behind: bool = False


class KeptAuditCursor:
    """The stored cursor of a warehouse.

    An audit of some tables shares it, and starts at the first shard if its own is unknown.
    """

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def read(self) -> AuditCursor:
        """The stored cursor, or the start."""
        return AuditCursor(**json.loads(self._notes.get(_NAME) or "{}"))

    def write(self, cursor: AuditCursor) -> None:
        self._notes.put({_NAME: json_text(asdict(cursor))})

    def clear(self) -> None:
        """Remove the cursor after a finished cycle: the next one starts from the beginning."""
        self._notes.remove(_NAME)

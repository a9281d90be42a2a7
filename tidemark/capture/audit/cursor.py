"""Where a cycle stands: what is before it in the order of shards was looked at, and need not be after a restart."""

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
    """The next range of a cycle begins behind `low` of `shard`, or is its slice `slice_`; an empty one is the start.

    Where it `is_behind` the shard, the next one follows.
    """

    table: str = ""
    shard: str = ""
    low: str | None = None
    slice_: int = 0
    is_behind: bool = False


class KeptAuditCursor:
    """Of a warehouse; an audit of some tables has the same, and begins anew where it does not know the shard."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def read(self) -> AuditCursor:
        """The start, where there is none."""
        return AuditCursor(**json.loads(self._notes.get(_NAME) or "{}"))

    def write(self, cursor: AuditCursor) -> None:
        """In the place of what was there."""
        self._notes.put({_NAME: json_text(asdict(cursor))})

    def clear(self) -> None:
        """The cycle has ended: the next one begins at the start."""
        self._notes.remove(_NAME)

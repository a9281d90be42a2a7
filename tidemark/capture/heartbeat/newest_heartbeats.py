"""The newest heartbeat of each instance that arrived, as notes in the state store.

Commands read them between steps. A table's commits have heartbeats too, but only up to what the table has read. A table
without changes has no commits for hours. A table that waits for a broken instance reads no further in the other
instances.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from tidemark.state_store.database import Database
from tidemark.state_store.fence import Fence
from tidemark.state_store.notes import Notes

NOTES: Final = "capture heartbeats"
"""The kind of the notes: epoch ms by instance."""


class NewestBeats:
    """The writer's times (epoch ms) of the newest heartbeats."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def read(self) -> Mapping[str, int]:
        """Epoch ms by instance; empty before the first step."""
        return {name: int(beat) for name, beat in self._notes.all().items()}

    def note(self, beats: Mapping[str, int], fences: Iterable[Fence] = ()) -> None:
        """Store heartbeats that arrived, unless a newer one is stored. Raises FencedError."""

        def newer(before: Mapping[str, str]) -> Mapping[str, str]:
            return {name: str(beat) for name, beat in beats.items() if beat > int(before.get(name, beat - 1))}

        self._notes.revise(newer, fences)

"""The newest heartbeat of each instance that arrived: notes in the state store, for those who ask between steps.

A table's commits say it, too, but only of what the table has read: one in which nothing changes has no commits for
hours, and one that waits for a broken instance reads no further of the others, which are as alive as ever.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from tidemark.state_store.database import Database
from tidemark.state_store.fence import Fence
from tidemark.state_store.notes import Notes

NOTES: Final = "capture heartbeats"
"""The kind of the notes: per instance epoch ms."""


class NewestBeats:
    """Times (epoch ms) that the heartbeats' writer gave them."""

    def __init__(self, database: Database) -> None:
        self._notes = Notes(database, NOTES)

    def read(self) -> Mapping[str, int]:
        """Per instance; nothing before the first step."""
        return {name: int(beat) for name, beat in self._notes.all().items()}

    def note(self, beats: Mapping[str, int], fences: Iterable[Fence] = ()) -> None:
        """These arrived; what was newer stays. Raises FencedError."""

        def newer(before: Mapping[str, str]) -> Mapping[str, str]:
            return {name: str(beat) for name, beat in beats.items() if beat > int(before.get(name, beat - 1))}

        self._notes.revise(newer, fences)

"""The newest heartbeat of each instance that arrived: a file beside the warehouse, for those who ask between steps.

A table's commits say it, too, but only of what the table has read: one in which nothing changes has no commits for
hours, and one that waits for a broken instance reads no further of the others, which are as alive as ever.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from tidemark.system.files import replace_text
from tidemark.system.settings import Settings


class NewestBeats:
    """Times (epoch ms) that the heartbeats' writer gave them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "NewestBeats":
        """Those of a warehouse."""
        return cls(settings.data / "capture" / "heartbeats.json")

    def read(self) -> Mapping[str, int]:
        """Per instance; nothing before the first step."""
        if not self._path.exists():
            return {}
        beats: dict[str, int] = json.loads(self._path.read_text(encoding="utf-8"))
        return beats

    def note(self, beats: Mapping[str, int]) -> None:
        """These arrived; what was newer stays. In the place of what was there, at once."""
        before = self.read()
        after = {**before, **{name: max(beat, before.get(name, beat)) for name, beat in beats.items()}}
        if after != before:
            replace_text(self._path, json.dumps(after))

"""Liveness of instances: heartbeats that arrived, judged as of the moment at which the capture last looked for them.

Between two passes, five minutes apart, nothing can arrive, and nobody is broken for that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from tidemark.capture.heartbeat.idle_or_broken import Diagnosis, Health, Threshold, diagnose
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.state_store.database import Database
from tidemark.state_store.fence import Fence
from tidemark.state_store.notes import Notes

STALLED: Final = timedelta(minutes=15)
"""Three of the capture's usual intervals: who looks at nothing for longer hears nobody, whoever is to blame."""

NOTES: Final = "capture looked"
"""The kind of the notes: per instance when its capture last looked for changes (ISO, UTC)."""


@dataclass(frozen=True)
class Liveness:
    """Per instance when its capture last `looked`, none where nobody knows; `beats` its newest heartbeat."""

    looked: Mapping[str, datetime] = field(default_factory=dict)
    beats: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, database: Database) -> Self:
        """What the last steps left."""
        beats = {name: datetime.fromtimestamp(ms / 1000, tz=UTC) for name, ms in NewestBeats(database).read().items()}
        return cls(last_looks(database), beats)

    def diagnosis(self, instance: str, change: datetime | None, now: datetime, threshold: Threshold) -> Diagnosis:
        """Whether the instance is idle or broken."""
        looked = self.looked.get(instance)
        if looked is not None and now - looked > STALLED:
            at = f"{looked:%Y-%m-%d %H:%M:%S}"
            reason = f"the capture last looked for changes at {at}: it does not run, or cannot read"
            return Diagnosis(instance, Health.BROKEN, looked, reason)
        return diagnose(instance, self.beats.get(instance), change, looked or now, threshold)


def last_looks(database: Database) -> Mapping[str, datetime]:
    """Per instance when the last step ended that read it; nothing before the first."""
    return {name: datetime.fromisoformat(at) for name, at in Notes(database, NOTES).all().items()}


def note_look(database: Database, instances: Iterable[str], at: datetime, fences: Iterable[Fence] = ()) -> None:
    """A step ends: whatever had come of these instances is read. Raises FencedError."""
    Notes(database, NOTES).put(dict.fromkeys(instances, at.isoformat()), fences)

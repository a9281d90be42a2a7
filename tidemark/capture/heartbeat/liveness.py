"""Liveness of instances: their newest heartbeats, judged at the time of the capture's last look.

No heartbeat can arrive between two passes, which are five minutes apart. This does not make an instance broken.
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
"""Three of the capture's usual intervals. A capture that did not look for longer counts as broken."""

NOTES: Final = "capture looked"
"""The kind of the notes: when the capture of each instance last looked for changes (ISO, UTC)."""


@dataclass(frozen=True)
class Liveness:
    """By instance, when its capture last `looked` (missing if unknown), and its newest heartbeat in `beats`."""

    looked: Mapping[str, datetime] = field(default_factory=dict)
    beats: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, database: Database) -> Self:
        """The liveness after the last steps."""
        beats = {name: datetime.fromtimestamp(ms / 1000, tz=UTC) for name, ms in NewestBeats(database).read().items()}
        return cls(last_looks(database), beats)

    def diagnosis(self, instance: str, change: datetime | None, now: datetime, threshold: Threshold) -> Diagnosis:
        """Whether the instance is live, idle or broken."""
        looked = self.looked.get(instance)
        if looked is not None and now - looked > STALLED:
            at = f"{looked:%Y-%m-%d %H:%M:%S}"
            reason = f"the capture last looked for changes at {at}: it is stopped, or cannot read"
            return Diagnosis(instance, Health.BROKEN, looked, reason)
        return diagnose(instance, self.beats.get(instance), change, looked or now, threshold)


def last_looks(database: Database) -> Mapping[str, datetime]:
    """By instance, the end of the last step that read it; empty before the first step."""
    return {name: datetime.fromisoformat(at) for name, at in Notes(database, NOTES).all().items()}


def note_look(database: Database, instances: Iterable[str], at: datetime, fences: Iterable[Fence] = ()) -> None:
    """Record the end of a step that read everything that had arrived of these instances. Raises FencedError."""
    Notes(database, NOTES).put(dict.fromkeys(instances, at.isoformat()), fences)

"""Liveness of instances: heartbeats that arrived, judged as of the moment at which the capture last looked for them.

Between two passes, five minutes apart, nothing can arrive, and nobody is broken for that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from tidemark.capture.heartbeat.idle_or_broken import Diagnosis, Health, Threshold, diagnose
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.system.files import replace_text
from tidemark.system.settings import Settings

STALLED: Final = timedelta(minutes=15)
"""Three of the capture's usual intervals: who looks at nothing for longer hears nobody, whoever is to blame."""


@dataclass(frozen=True)
class Liveness:
    """`looked` is when the capture last did, None where nobody knows; `beats` each instance's newest heartbeat."""

    looked: datetime | None = None
    beats: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """What a warehouse's last step left."""
        beats = {
            name: datetime.fromtimestamp(ms / 1000, tz=UTC) for name, ms in NewestBeats.of(settings).read().items()
        }
        return cls(last_look(settings), beats)

    def diagnosis(self, instance: str, change: datetime | None, now: datetime, threshold: Threshold) -> Diagnosis:
        """Whether the instance is idle or broken."""
        if self.looked is not None and now - self.looked > STALLED:
            at = f"{self.looked:%Y-%m-%d %H:%M:%S}"
            reason = f"the capture last looked for changes at {at}: it does not run, or cannot read"
            return Diagnosis(instance, Health.BROKEN, self.looked, reason)
        return diagnose(instance, self.beats.get(instance), change, self.looked or now, threshold)


def last_look(settings: Settings) -> datetime | None:
    """When the capture's last step ended; None before the first."""
    path = _path(settings)
    return datetime.fromisoformat(path.read_text(encoding="utf-8")) if path.exists() else None


def note_look(settings: Settings, at: datetime) -> None:
    """A step ends: whatever had come is read. In the place of what was there, at once."""
    replace_text(_path(settings), at.isoformat())


def _path(settings: Settings) -> Path:
    return settings.data / "capture" / "looked"

"""Which heartbeats came out at this end of the chain, as of the last step of the capture: a file beside the warehouse.

A table's commits do not say: nothing is committed for a table in which nothing happens, and what is past an open
boundary is read but waits.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from resources.capture.heartbeat.beat import Beat
from resources.capture.heartbeat.health import Diagnosis, Health, Threshold, diagnose
from resources.settings import Settings

STALLED: Final = timedelta(minutes=15)
"""Three of the capture's usual intervals: who reads nothing for longer hears nothing, whoever is to blame."""


@dataclass(frozen=True)
class Heard:
    """`at` is when the capture last looked, None for never; `beats` are each instance's newest heartbeat's own time."""

    at: datetime | None = None
    beats: Mapping[str, datetime] = field(default_factory=dict)

    def diagnosis(self, instance: str, change: datetime | None, now: datetime, threshold: Threshold) -> Diagnosis:
        """Whether the instance is idle or broken, as of the last look: between two of them nothing can arrive."""
        if self.at is not None and now - self.at > STALLED:
            reason = (
                f"the capture last looked for changes at {self.at:%Y-%m-%d %H:%M:%S}: it does not run, or cannot read"
            )
            return Diagnosis(instance, Health.BROKEN, self.at, reason)
        return diagnose(instance, self.beats.get(instance), change, self.at or now, threshold)

    def and_then(self, at: datetime, beats: Mapping[str, Iterable[Beat]]) -> "Heard":
        """With what was heard up to `at`."""
        newest = {name: max((one.beat_ms for one in found), default=0) for name, found in beats.items()}
        moments = {name: datetime.fromtimestamp(ms / 1000, tz=at.tzinfo) for name, ms in newest.items() if ms}
        return Heard(at, {**self.beats, **{name: max(at_, self.beats.get(name, at_)) for name, at_ in moments.items()}})


NOTHING_HEARD: Final = Heard()


class HeardFile:
    """Where it is kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "HeardFile":
        """That of a warehouse."""
        return cls(settings.data / "capture" / "heard.json")

    def read(self) -> Heard:
        """Nothing was heard before the first step."""
        if not self._path.exists():
            return NOTHING_HEARD
        found = json.loads(self._path.read_text(encoding="utf-8"))
        beats = {name: datetime.fromisoformat(text) for name, text in found["beats"].items()}
        return Heard(datetime.fromisoformat(found["at"]), beats)

    def write(self, heard: Heard) -> None:
        """In the place of what was there, at once; nothing where the capture never looked."""
        if heard.at is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        beats = {name: one.isoformat() for name, one in heard.beats.items()}
        new.write_text(json.dumps({"at": heard.at.isoformat(), "beats": beats}), encoding="utf-8")
        new.replace(self._path)

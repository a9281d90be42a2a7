"""A service that listens nowhere leaves a beat: a file of its data folder, touched while it gets on with its work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tidemark.system.files import private_file

if TYPE_CHECKING:
    from pathlib import Path

_EVERY_SECONDS: Final = 5.0


class ServiceBeat:
    """The beat of one service; the first is when this is made. Raises OSError where the folder cannot be written."""

    def __init__(self, data: Path, service: str) -> None:
        self._file = private_file(beat_file(data, service))
        self._file.touch()
        self._beaten_at = time.monotonic()

    def beat(self) -> None:
        """To be called as often as one likes: the file is touched every five seconds at most."""
        now = time.monotonic()
        if now - self._beaten_at >= _EVERY_SECONDS:
            self._file.touch()
            self._beaten_at = now


def beat_file(data: Path, service: str) -> Path:
    """Where the beat of a service is, below the data folder."""
    return data / "beats" / service


def seconds_since_beat(data: Path, service: str, now: float) -> float | None:
    """How long ago (`now`: epoch seconds) it was, negative for one from the future; None where there never was one."""
    try:
        return now - beat_file(data, service).stat().st_mtime
    except FileNotFoundError:
        return None

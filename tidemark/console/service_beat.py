"""The heartbeat file of a service without a port: touched in the data folder while the service works."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tidemark.system.files import private_file

if TYPE_CHECKING:
    from pathlib import Path

_EVERY_SECONDS: Final = 5.0


class ServiceBeat:
    """The heartbeat of one service; the first is sent at once. Raises OSError if the folder cannot be written."""

    def __init__(self, data: Path, service: str) -> None:
        self._file = private_file(beat_file(data, service))
        self._file.touch()
        self._beaten_at = time.monotonic()

    def beat(self) -> None:
        """May be called at any rate: the file is touched at most every five seconds."""
        now = time.monotonic()
        if now - self._beaten_at >= _EVERY_SECONDS:
            self._file.touch()
            self._beaten_at = now


def beat_file(data: Path, service: str) -> Path:
    """The path of a service's heartbeat file, below the data folder."""
    return data / "beats" / service


def seconds_since_beat(data: Path, service: str, now: float) -> float | None:
    """The age of the heartbeat (`now`: epoch seconds), negative if it is in the future; None if there was none."""
    try:
        return now - beat_file(data, service).stat().st_mtime
    except FileNotFoundError:
        return None

"""Lands the recorded changes as new change files, in the order of their arrival."""

from __future__ import annotations

import gzip
import json
import lzma
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.console.demo.errors import SampleError
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path


@dataclass(frozen=True)
class Arrival:
    """One line of the recording; `event_ms` is in epoch milliseconds, taken from the line before if it has no time."""

    offset: int
    event_ms: int
    line: str


class ChangeFeed:
    """Replays `sample/changes/<instance>/*.jsonl.xz` into `landing/<instance>/`.

    Repeatable: a landed file is never written again.
    """

    def __init__(self, sample: Path, landing: Path) -> None:
        self._landing = landing
        self._streams = {
            folder.name: _Stream(folder) for folder in sorted((sample / "changes").iterdir()) if folder.is_dir()
        }
        if not self._streams:
            raise SampleError("the recording is empty", where=str(sample), hint="install tidemark again")

    def land(self, until: datetime) -> int:
        """Land all records before `until` that are not landed yet; returns the number of changes."""
        limit = int(until.timestamp() * 1000)
        return sum(self._land(name, stream.take_until(limit)) for name, stream in self._streams.items())

    def _land(self, instance: str, arrivals: list[Arrival]) -> int:
        if not arrivals:
            return 0
        folder = self._landing / instance
        private_directory(folder)
        target = folder / f"{arrivals[0].offset:012d}.jsonl.gz"
        if not target.exists():
            partial = target.with_suffix(".partial")
            with gzip.open(partial, "wt", encoding="utf-8", compresslevel=1) as file:
                file.writelines(arrival.line for arrival in arrivals)
            partial.rename(target)
        return len(arrivals)


class _Stream:
    """The recorded topic of one instance, read once, in order."""

    def __init__(self, folder: Path) -> None:
        self._arrivals = _arrivals(folder)
        self._held: Arrival | None = None

    def take_until(self, limit_ms: int) -> list[Arrival]:
        taken = []
        while (arrival := self._held or next(self._arrivals, None)) is not None:
            self._held = arrival if arrival.event_ms >= limit_ms else None
            if self._held:
                break
            taken.append(arrival)
        return taken


def _arrivals(folder: Path) -> Iterator[Arrival]:
    event_ms = 0
    for path in sorted(folder.glob("*.jsonl.xz")):
        try:
            with lzma.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    offset, millis = _position(line)
                    event_ms = max(event_ms, millis or 0)
                    yield Arrival(offset, event_ms, line)
        except (lzma.LZMAError, EOFError, ValueError) as error:
            raise SampleError(
                "the recording cannot be read",
                found=str(error),
                where=str(path),
                hint="restore it with git checkout -- sample",
            ) from error


def _position(line: str) -> tuple[int, int | None]:
    record = json.loads(line)
    value = record["value"]
    return record["offset"], value["source"]["ts_ms"] if value else None

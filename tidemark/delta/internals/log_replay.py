"""From which version to which each file of a table was live: the log read once, from a checkpoint or its beginning."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from tidemark.delta.internals.vector_path import vector_path
from tidemark.delta.statistics import require_table


@dataclass(frozen=True)
class Lifetime:
    """Files (data and deletion vector, paths in the table's folder) of versions from `added` up to before `removed`.

    `removed` is None for what is live still; `size_bytes` is the data file's.
    """

    paths: tuple[str, ...]
    size_bytes: int
    added: int
    removed: int | None


@dataclass(frozen=True)
class History:
    """`commits` are (version, when), as far back as the log goes, the newest last."""

    commits: tuple[tuple[int, datetime], ...]
    lifetimes: tuple[Lifetime, ...]


def read_history(path: Path) -> History:
    """The whole log of a table. Raises NotADeltaTableError."""
    require_table(path)
    log = path / "_delta_log"
    commits = {int(file.stem): file for file in log.glob("*.json") if file.stem.isdigit() and len(file.stem) == 20}
    first = _first_readable(log, commits)
    replay = _Replay()
    if first is not None:
        replay.start(first, _checkpoint(log, first))
    versions = sorted(version for version in commits if first is None or version > first)
    told = [(version, replay.commit(version, commits[version])) for version in versions]
    begun = [] if first is None else [(first, _when(commits, first))]
    return History((*begun, *told), tuple(replay.lifetimes()))


def _first_readable(log: Path, commits: Mapping[int, Path]) -> int | None:
    """None where the log is there from version 0 on; else the checkpoint that the oldest commits follow."""
    if 0 in commits:
        return None
    oldest = min(commits)
    checkpoints = sorted({int(file.name[:20]) for file in log.glob("*.checkpoint*.parquet")})
    return next(version for version in checkpoints if version >= oldest - 1)


def _checkpoint(log: Path, version: int) -> Iterator[Mapping[str, Any]]:
    for file in sorted(log.glob(f"{version:020}.checkpoint*.parquet")):
        yield from (add for add in pq.read_table(file, columns=["add"])["add"].to_pylist() if add)


def _when(commits: Mapping[int, Path], version: int) -> datetime:
    """Of a version whose commit may be gone: not younger than the next one's file."""
    file = commits.get(version) or commits[min(commits)]
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


class _Replay:
    def __init__(self) -> None:
        self._live: dict[tuple[str, ...], tuple[int, int]] = {}
        self._gone: list[Lifetime] = []

    def start(self, version: int, files: Iterator[Mapping[str, Any]]) -> None:
        """What is live at a checkpoint."""
        for add in files:
            self._live[_paths(add)] = (version, add["size"])

    def commit(self, version: int, file: Path) -> datetime:
        """Take in one commit; returns when it was made."""
        with file.open(encoding="utf-8") as lines:
            actions = [json.loads(line) for line in lines if line.strip()]
        for remove in (action["remove"] for action in actions if "remove" in action):
            self._end(_paths(remove), version)
        for add in (action["add"] for action in actions if "add" in action):
            self._live.setdefault(_paths(add), (version, add["size"]))
        at = next((one["commitInfo"].get("timestamp") for one in actions if "commitInfo" in one), None)
        return datetime.fromtimestamp(at / 1000 if at else file.stat().st_mtime, UTC)

    def _end(self, paths: tuple[str, ...], version: int) -> None:
        if paths in self._live:
            added, size = self._live.pop(paths)
            self._gone.append(Lifetime(paths, size, added, version))

    def lifetimes(self) -> Iterator[Lifetime]:
        yield from self._gone
        yield from (Lifetime(paths, size, added, None) for paths, (added, size) in self._live.items())


def _paths(action: Mapping[str, Any]) -> tuple[str, ...]:
    vector = action.get("deletionVector")
    beside = vector_path(vector) if vector else None
    # Two vectors of one file may share their file: the log tells them apart, what is on disk does not.
    told = (unquote(action["path"]), *([beside] if beside else []))
    return (*told, f"#{vector['offset']}") if vector else told

"""The files of a table's log: commits, and checkpoints of all three kinds (Delta protocol, "Checkpoints").

A checkpoint is one file, several numbered parts, or (V2, named by a UUID) a file that names others, its sidecars. One
of which a part is missing was being written, or was being deleted: it is no checkpoint.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from tidemark.delta.errors import UnreadableLogError
from tidemark.delta.internals.log_folder import LOG

_SIDECARS: Final = "_sidecars"
_COMMIT: Final = re.compile(r"(\d{20})\.json")
_CHECKPOINT: Final = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<uuid>[0-9a-fA-F-]{36}))?\.(?P<kind>parquet|json)"
)
_ACTIONS: Final = ("add.path", "add.size", "add.deletionVector", "protocol", "sidecar")


@dataclass(frozen=True)
class LogFiles:
    """`commits` by version; `checkpoints`, whole ones, by version: the files of one of them."""

    log: Path
    commits: Mapping[int, Path]
    checkpoints: Mapping[int, tuple[Path, ...]]

    @classmethod
    def of(cls, path: Path) -> "LogFiles":
        log = path / LOG
        names = [file.name for file in log.iterdir()]
        commits = {int(match[1]): log / name for name in names if (match := _COMMIT.fullmatch(name))}
        return cls(log, commits, _whole_checkpoints(log, names))

    def start(self) -> int | None:
        """The checkpoint that the log is read from; None where it is there from version 0 on.

        Raises UnreadableLogError where versions are missing.
        """
        first = None
        if 0 not in self.commits:
            oldest = min(self.commits, default=0)
            usable = [version for version in sorted(self.checkpoints) if version >= oldest - 1]
            if not usable:
                raise UnreadableLogError.of(self.log.parent, f"neither version 0 nor a checkpoint before {oldest}")
            first = usable[0]
        wanted = range(0 if first is None else first + 1, max(self.commits, default=-1) + 1)
        missing = [version for version in wanted if version not in self.commits]
        if missing:
            raise UnreadableLogError.of(self.log.parent, f"no commit {missing[0]}")
        return first

    def checkpoint_actions(self, version: int, columns: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
        """The `add` and `protocol` actions of a checkpoint, its sidecars' among them. Raises UnreadableLogError.

        `columns` are further fields of theirs, or of other actions, that are wanted: `add.stats`.
        """
        for file in self.checkpoints[version]:
            for action in _actions(file, columns):
                if action.get("sidecar"):
                    yield from _actions(self._sidecar(action["sidecar"]["path"]), columns)
                else:
                    yield action

    def _sidecar(self, path: str) -> Path:
        parsed = urlparse(path)
        file = Path(unquote(parsed.path)) if parsed.scheme else self.log / _SIDECARS / unquote(path)
        if not file.is_file():
            raise UnreadableLogError.of(self.log.parent, f"no sidecar {file.name} of a checkpoint")
        return file


def commit_actions(path: Path, version: int) -> list[Mapping[str, Any]] | None:
    """All actions of one commit of a table; None where the log has its file no more."""
    file = commit_file(path, version)
    return list(_actions(file)) if file.exists() else None


def _whole_checkpoints(log: Path, names: list[str]) -> dict[int, tuple[Path, ...]]:
    parts: dict[tuple[int, int], list[Path]] = defaultdict(list)
    whole: dict[int, tuple[Path, ...]] = {}
    for name in sorted(names):
        match = _CHECKPOINT.fullmatch(name)
        if match and match["parts"]:
            parts[int(match["version"]), int(match["parts"])].append(log / name)
        elif match:
            whole[int(match["version"])] = (log / name,)
    for (version, count), files in parts.items():
        if len(files) == count:
            whole.setdefault(version, tuple(files))
    return whole


def commit_file(path: Path, version: int) -> Path:
    """Where the log of a table has a commit."""
    return path / LOG / f"{version:020d}.json"


def _actions(file: Path, columns: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
    if file.suffix == ".json":
        with file.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())
        return
    for batch in pq.ParquetFile(file).iter_batches(columns=[*_ACTIONS, *columns]):
        for action in batch.to_pylist():
            yield {name: value for name, value in action.items() if value is not None}

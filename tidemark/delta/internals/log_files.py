"""The files of a table's log: commits and the three kinds of checkpoints (Delta protocol, "Checkpoints").

A checkpoint is one file, several numbered parts, or (V2, with a UUID) a file that names others, its sidecars. A
checkpoint with a missing part was being written or deleted, and does not count.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tidemark.delta.errors import UnreadableLogError
from tidemark.delta.log_folder import COMMIT, LOG, commit_file
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

_SIDECARS: Final = "_sidecars"
_CHECKPOINT: Final = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<uuid>[0-9a-fA-F-]{36}))?\.(?P<kind>parquet|json)"
)
_ACTIONS: Final = ("add.path", "add.size", "add.deletionVector", "protocol", "sidecar")


@dataclass(frozen=True)
class LogFiles:
    """`commits` by version; `checkpoints` by version: the names of the files of one complete checkpoint."""

    table: TableLocation
    commits: Mapping[int, str]
    checkpoints: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, path: TableLocation) -> "LogFiles":
        names = [name.rpartition("/")[2] for name in stored_files(path).names_in(LOG)]
        commits = {int(match[1]): f"{LOG}/{name}" for name in names if (match := COMMIT.fullmatch(name))}
        return cls(path, commits, _whole_checkpoints(names))

    def start(self) -> int | None:
        """The checkpoint to read the log from; None if the log is complete from version 0 on.

        Raises UnreadableLogError if versions are missing.
        """
        first = None
        if 0 not in self.commits:
            oldest = min(self.commits, default=0)
            usable = [version for version in sorted(self.checkpoints) if version >= oldest - 1]
            if not usable:
                raise UnreadableLogError.of(self.table, f"neither version 0 nor a checkpoint before {oldest}")
            first = usable[0]
        wanted = range(0 if first is None else first + 1, max(self.commits, default=-1) + 1)
        missing = [version for version in wanted if version not in self.commits]
        if missing:
            raise UnreadableLogError.of(self.table, f"no commit {missing[0]}")
        return first

    def checkpoint_actions(self, version: int, columns: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
        """The `add` and `protocol` actions of a checkpoint and its sidecars. Raises UnreadableLogError.

        `columns` are further fields to read, of these actions or others, such as `add.stats`.
        """
        for name in self.checkpoints[version]:
            for action in _actions(self.table, name, columns):
                if action.get("sidecar"):
                    yield from _actions(self.table, self._sidecar(action["sidecar"]["path"]), columns)
                else:
                    yield action

    def _sidecar(self, path: str) -> str:
        store = stored_files(self.table)
        name = store.name_of(path) if urlsplit(path).scheme else f"{LOG}/{_SIDECARS}/{unquote(path)}"
        if not store.exists(name):
            raise UnreadableLogError.of(self.table, f"no sidecar {name.rpartition('/')[2]} of a checkpoint")
        return name


def commit_actions(path: TableLocation, version: int) -> list[Mapping[str, Any]] | None:
    """All actions of one commit; None if the log no longer has its file. Raises UnreadableLogError."""
    try:
        return list(_actions(path, commit_file(version)))
    except FileNotFoundError:
        return None


def _whole_checkpoints(names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    parts: dict[tuple[int, int], list[str]] = defaultdict(list)
    whole: dict[int, tuple[str, ...]] = {}
    for name in sorted(names):
        match = _CHECKPOINT.fullmatch(name)
        if match and match["parts"]:
            parts[int(match["version"]), int(match["parts"])].append(f"{LOG}/{name}")
        elif match:
            whole[int(match["version"])] = (f"{LOG}/{name}",)
    for (version, count), files in parts.items():
        if len(files) == count:
            whole.setdefault(version, tuple(files))
    return whole


def _actions(table: TableLocation, name: str, columns: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
    """The actions of a file. Raises UnreadableLogError if it is truncated or malformed."""
    read = _json_actions if name.endswith(".json") else _checkpoint_actions
    try:
        yield from read(table, name, columns)
    except (ValueError, RecursionError, IsADirectoryError, PermissionError) as error:
        raise UnreadableLogError.of(table, f"{name} cannot be read ({error})") from error


def _json_actions(table: TableLocation, name: str, _: Collection[str]) -> Iterator[Mapping[str, Any]]:
    yield from (json.loads(line) for line in stored_files(table).read(name).splitlines() if line.strip())


def _checkpoint_actions(table: TableLocation, name: str, columns: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """The actions of a checkpoint's file. Raises ValueError for a file that is not a checkpoint."""
    import pyarrow as pa  # noqa: PLC0415 - a log without checkpoints needs no Arrow
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        for batch in pq.ParquetFile(stored_files(table).arrow_source(name)).iter_batches(columns=[*_ACTIONS, *columns]):
            for action in batch.to_pylist():
                yield {name: value for name, value in action.items() if value is not None}
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error

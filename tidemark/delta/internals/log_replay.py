"""The versions in which each file of a table was live, by one read of the whole log.

Files are deleted by this result, so it must be complete. A table with an unknown feature is refused, and so is a log
with a gap. The live files at the end are compared with delta-rs's list for the same version.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from tidemark.delta.errors import UnreadableLogError
from tidemark.delta.file_statistics import file_statistics, require_table
from tidemark.delta.internals.features import require_known
from tidemark.delta.internals.log_files import LogFiles, commit_actions
from tidemark.delta.internals.vector_path import vector_path
from tidemark.delta.live_file import file_name
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

_OPERATION = "VACUUM"


@dataclass(frozen=True)
class Lifetime:
    """Files (data and deletion vector, paths in the table's folder) of versions from `added` up to before `removed`.

    `removed` is None while live; `size_bytes` is the data file's.
    """

    paths: tuple[str, ...]
    size_bytes: int
    added: int
    removed: int | None


@dataclass(frozen=True)
class TableHistory:
    """`commits` are (version, time) as far back as the log goes, the newest last."""

    commits: tuple[tuple[int, datetime], ...]
    lifetimes: tuple[Lifetime, ...]


def read_history(path: TableLocation) -> TableHistory:
    """The whole log of a table. Raises NotADeltaTableError, TableFeatureError, UnreadableLogError."""
    require_table(path)
    files = LogFiles.of(path)
    first = files.start()
    replay = _Replay()
    if first is not None:
        replay.start(first, files.checkpoint_actions(first))
    versions = sorted(version for version in files.commits if first is None or version > first)
    later = [(version, _take_in(replay, path, version, files)) for version in versions]
    begun = [] if first is None else [(first, _when(files, first))]
    require_known(path, replay.protocols, _OPERATION)
    history = TableHistory((*begun, *later), tuple(replay.lifetimes()))
    _require_live(path, history)
    return history


def _require_live(path: TableLocation, history: TableHistory) -> None:
    """Raise UnreadableLogError if delta-rs lists a live file of the newest version that was not read here."""
    newest, _ = history.commits[-1]
    live = {file_name(file.paths[0]) for file in history.lifetimes if file.removed is None}
    listed = file_statistics(path, newest).files["location"].to_pylist()
    missed = sorted({file_name(unquote(location)) for location in listed} - live)
    if missed:
        raise UnreadableLogError.of(path, f"{len(missed)} live files were not seen in it, {missed[0]} among them")


def _when(files: LogFiles, version: int) -> datetime:
    """The time of a version whose commit may be gone: at most that of the next commit's file."""
    oldest = files.commits[min(files.commits)] if files.commits else files.checkpoints[version][0]
    return stored_files(files.table).stat(files.commits.get(version, oldest)).changed


def _take_in(replay: "_Replay", path: TableLocation, version: int, files: LogFiles) -> datetime:
    """Take in one commit; returns its time."""
    actions = commit_actions(path, version)
    if actions is None:
        raise UnreadableLogError.of(path, f"no commit {version}")
    replay.commit(version, actions)
    at = next((action["commitInfo"].get("timestamp") for action in actions if "commitInfo" in action), None)
    return datetime.fromtimestamp(at / 1000, UTC) if at else stored_files(path).stat(files.commits[version]).changed


class _Replay:
    def __init__(self) -> None:
        self.protocols: list[dict[str, Any]] = []
        self._live: dict[tuple[str, ...], tuple[int, int]] = {}
        self._gone: list[Lifetime] = []

    def start(self, version: int, actions: Iterable[Mapping[str, Any]]) -> None:
        """Begin with the live files of a checkpoint."""
        for action in actions:
            self._note_protocol(action)
            if action.get("add"):
                self._live[_paths(action["add"])] = (version, action["add"]["size"])

    def commit(self, version: int, actions: Sequence[Mapping[str, Any]]) -> None:
        """Take in one commit."""
        for action in actions:
            self._note_protocol(action)
        for remove in (action["remove"] for action in actions if "remove" in action):
            self._end(_paths(remove), version)
        for add in (action["add"] for action in actions if "add" in action):
            self._live.setdefault(_paths(add), (version, add["size"]))
        # A commit's change data is read with its own version, and belongs to no later one.
        changes = (action["cdc"] for action in actions if "cdc" in action)
        self._gone += (Lifetime(_paths(cdc), cdc["size"], version, version + 1) for cdc in changes)

    def _note_protocol(self, action: Mapping[str, Any]) -> None:
        if action.get("protocol"):
            self.protocols.append(action["protocol"])

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
    # Two vectors of one data file may share a file on disk; the offset separates them in the log.
    paths = (unquote(action["path"]), *([beside] if beside else []))
    return (*paths, f"#{vector['offset']}") if vector else paths

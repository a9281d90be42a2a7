"""The log's full description of one version: its files, and the table's metadata and protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from tidemark.delta.errors import NotADeltaTableError, UnreadableLogError, VersionGoneError
from tidemark.delta.internals.features import require_known
from tidemark.delta.internals.log_files import LogFiles, commit_actions
from tidemark.delta.log_folder import commit_file
from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

_OPERATION: Final = "replication"
_COLUMNS: Final = (
    *("add.partitionValues", "add.modificationTime", "add.dataChange", "add.stats", "add.tags", "metaData", "txn"),
)
_MAPS: Final = frozenset({"partitionValues", "tags", "configuration", "options"})
_VECTOR_IDENTITY: Final = ("storageType", "pathOrInlineDv", "offset")


class FileKey(NamedTuple):
    """The identity of a file in a version: the path as in the log, and the deletion vector, if any."""

    path: str
    vector: str = ""

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> Self:
        """The key of an `add` or `remove` action."""
        vector = action.get("deletionVector")
        return cls(str(action["path"]), json_text([vector.get(name) for name in _VECTOR_IDENTITY]) if vector else "")


@dataclass(frozen=True)
class VersionContent:
    """`files` are the `add` actions of live files, `metadata` and `protocol` the newest actions of these kinds.

    `marks` are the transaction versions by application id.
    """

    version: int
    files: Mapping[FileKey, Mapping[str, Any]]
    metadata: Mapping[str, Any]
    protocol: Mapping[str, Any]
    marks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FileStep:
    """The file changes of one commit, and its `commitInfo`. A commit with `changes_rows` False only moves rows."""

    removed: frozenset[FileKey]
    added: Mapping[FileKey, Mapping[str, Any]]
    changes_rows: bool
    info: Mapping[str, Any] = field(default_factory=dict)


def version_content(path: TableLocation, version: int | None = None) -> VersionContent:
    """A version of the table at `path`, the newest by default.

    Raises NotADeltaTableError, VersionGoneError, UnreadableLogError, TableFeatureError, and the store's errors.
    """
    files = LogFiles.of(path)
    if not files.commits and not files.checkpoints:
        raise NotADeltaTableError.at(path)
    newest = max((*files.commits, *files.checkpoints))
    if version is not None and version > newest:
        raise VersionGoneError.unknown(path, version, newest)
    return _read(path, files, newest if version is None else version)


def newest_content(path: TableLocation) -> VersionContent | None:
    """The newest version; None if there is no table. Raises the other errors of `version_content`."""
    try:
        return version_content(path)
    except NotADeltaTableError:
        return None


def file_steps(path: TableLocation, after: int, until: int) -> Iterator[FileStep]:
    """The commits after one version, up to another, in order. Raises VersionGoneError if the log lacks one."""
    for version in range(after + 1, until + 1):
        actions = commit_actions(path, version)
        if actions is None:
            raise VersionGoneError.log(path, version, "its commit is missing")
        yield _step(actions)


def put_commit(path: TableLocation, version: int, actions: list[Mapping[str, Any]]) -> bool:
    """Create that version of the table from these actions. Returns False if another writer made it first."""
    content = "".join(f"{json_text(action)}\n" for action in actions)
    return stored_files(path).put_if_absent(commit_file(version), content.encode())


def _read(path: TableLocation, log: LogFiles, version: int) -> VersionContent:
    state = _LogState()
    first = max((there for there in log.checkpoints if there <= version), default=-1)
    if first >= 0:
        state.take(log.checkpoint_actions(first, _COLUMNS))
    for following in range(first + 1, version + 1):
        actions = commit_actions(path, following)
        if actions is None:
            raise VersionGoneError.log(path, version, f"no commit {following}")
        state.take(actions)
    if not state.metadata or not state.protocol:
        raise UnreadableLogError.of(path, f"version {version} has no schema")
    require_known(path, [state.protocol], _OPERATION)
    return VersionContent(version, state.files, state.metadata, state.protocol, state.marks)


@dataclass
class _LogState:
    files: dict[FileKey, Mapping[str, Any]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    protocol: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)

    def take(self, actions: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> None:
        """Take in the actions of a commit or a checkpoint."""
        listed = [_plain(action) for action in actions]
        for remove in (action["remove"] for action in listed if action.get("remove")):
            self.files.pop(FileKey.of(remove), None)
        for add in (action["add"] for action in listed if action.get("add")):
            self.files[FileKey.of(add)] = add
        for action in listed:
            self.metadata = action.get("metaData") or self.metadata
            self.protocol = action.get("protocol") or self.protocol
            if action.get("txn"):
                self.marks[action["txn"]["appId"]] = int(action["txn"]["version"])


def _step(actions: list[Mapping[str, Any]]) -> FileStep:
    removes = [action["remove"] for action in actions if action.get("remove")]
    adds = [_fields(action["add"]) for action in actions if action.get("add")]
    return FileStep(
        frozenset(map(FileKey.of, removes)),
        {FileKey.of(add): add for add in adds},
        any(file.get("dataChange", True) for file in (*removes, *adds)),
        next((action["commitInfo"] for action in actions if action.get("commitInfo")), {}),
    )


def _plain(action: Mapping[str, Any]) -> dict[str, Any]:
    """An action without empty fields. In a checkpoint's Parquet, maps are pairs."""
    return {kind: _fields(told) for kind, told in action.items() if isinstance(told, Mapping)}


def _fields(told: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: dict(value) if name in _MAPS else value for name, value in told.items() if value is not None}
    if isinstance(fields.get("format"), Mapping):
        fields["format"] = _fields(fields["format"])
    return fields

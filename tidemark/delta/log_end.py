"""The end of a table's log: its last commit with a checksum, and the table's id."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from tidemark.delta.internals.log_files import LogFiles, commit_actions
from tidemark.delta.log_folder import commit_file
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.system.table_location import TableLocation


class LogEnd(NamedTuple):
    """`version` of the last commit, -1 if there is none; `sha256` of its content, empty if its file is gone."""

    version: int
    sha256: str


def log_end(path: TableLocation) -> LogEnd:
    """The end of the log as listed now."""
    files = LogFiles.of(path)
    version = max((*files.commits, *files.checkpoints), default=-1)
    return LogEnd(version, commit_sha256(path, version))


def commit_sha256(path: TableLocation, version: int) -> str:
    """The SHA-256 of one commit's content; empty if the log no longer has its file."""
    try:
        return hashlib.sha256(stored_files(path).read(commit_file(version))).hexdigest()
    except FileNotFoundError:
        return ""


def table_id(path: TableLocation, version: int) -> str:
    """Delta's id of the table at a version, searched backwards. Raises UnreadableLogError."""
    files = LogFiles.of(path)
    for number in range(version, -1, -1):
        if identity := _id_in(commit_actions(path, number) or ()):
            return identity
        if number in files.checkpoints:
            return _id_in(files.checkpoint_actions(number, ("metaData.id",)))
    return ""


def _id_in(actions: Iterable[Mapping[str, object]]) -> str:
    for action in actions:
        metadata = action.get("metaData")
        if isinstance(metadata, dict):
            return str(metadata.get("id", ""))
    return ""

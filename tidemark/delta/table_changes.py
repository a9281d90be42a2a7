"""Changes of a table's commits, read from the log after the last known commit, without a Spark job or a listing.

If the log is another one - the table was deleted and created again, or the commit is gone - it is read from the start,
or from its first complete checkpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from tidemark.delta.errors import UnreadableLogError
from tidemark.delta.internals.features import require_known
from tidemark.delta.internals.log_files import LogFiles, commit_actions
from tidemark.delta.internals.vector_path import vector_path
from tidemark.delta.log_folder import LOG, commit_file
from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidemark.system.table_location import TableLocation

_OPERATION: Final = "reading what was committed"
_CHECKPOINT: Final = ("add.partitionValues", "add.stats", "metaData.schemaString", "metaData.id")


class LogPosition(NamedTuple):
    """The last known commit; `stamp` identifies its file among others with the same number."""

    version: int
    stamp: str


class TableFile(NamedTuple):
    """A live file; another deletion vector makes it another file. `rows` are visible ones, None if unknown.

    `partition` has texts by column, None for NULL. `paths` are its files in the table's folder.
    """

    identity: str
    partition: Mapping[str, str | None] | None
    rows: int | None
    size_bytes: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """One commit, or all live files at a checkpoint (`is_checkpoint`), whose writers are unknown.

    `at` is epoch ms, 0 if the commit does not have it. `columns` are types by name if the commit sets the schema, and
    `table_id` is Delta's id. `changes_rows` is False if rows only move to other files. `is_empty`: a commit without
    actions, which no writer makes, so its file lost its content.
    """

    version: int
    at: int
    info: Mapping[str, Any]
    added: tuple[TableFile, ...]
    removed: tuple[TableFile, ...]
    changes_rows: bool
    columns: Mapping[str, str] | None = None
    table_id: str = ""
    is_checkpoint: bool = False
    is_empty: bool = False


@dataclass(frozen=True)
class TableChanges:
    """`is_anew`: the commits begin at the start of the log. Once read, the position is that of the last one."""

    is_anew: bool
    commits: Iterator[CommitChanges]


def has_log(path: TableLocation) -> bool:
    """Whether there is a log. A deleted table has none."""
    return stored_files(path).has_files(LOG)


def has_commits(path: TableLocation) -> bool:
    """Whether a log has its first commit. A writer makes the folder before it."""
    files = LogFiles.of(path)
    return bool(files.commits or files.checkpoints)


def changes_after(path: TableLocation, seen: LogPosition | None) -> TableChanges:
    """The commits after `seen`, oldest first. Reading them raises UnreadableLogError and TableFeatureError."""
    if seen is None or position_at(path, seen.version) != seen:
        return TableChanges(is_anew=True, commits=_from_beginning(path))
    return TableChanges(is_anew=False, commits=_next_commits(path, seen.version + 1))


def position_at(path: TableLocation, version: int) -> LogPosition:
    """The position after a commit. The stamp is empty if its file is gone, as after a checkpoint."""
    try:
        told = stored_files(path).stat(commit_file(version))
    except FileNotFoundError:
        return LogPosition(version, "")
    return LogPosition(version, f"{told.mark}:{told.size_bytes}")


def _next_commits(path: TableLocation, version: int) -> Iterator[CommitChanges]:
    while (actions := commit_actions(path, version)) is not None:
        yield _changes(path, version, actions)
        version += 1


def _from_beginning(path: TableLocation) -> Iterator[CommitChanges]:
    files = LogFiles.of(path)
    if not files.commits and not files.checkpoints:
        raise UnreadableLogError.of(path, "no commit")
    first = files.start()
    if first is not None:
        actions = files.checkpoint_actions(first, _CHECKPOINT)
        yield _changes(path, first, actions, is_checkpoint=True)
    yield from _next_commits(path, 0 if first is None else first + 1)


def _changes(
    path: TableLocation, version: int, actions: Iterable[Mapping[str, Any]], *, is_checkpoint: bool = False
) -> CommitChanges:
    added, removed, info, metadata, protocols, changes_rows, is_empty = [], [], {}, {}, [], False, True
    for action in actions:
        is_empty = False
        if add := action.get("add"):
            added.append(_file(add))
            changes_rows |= bool(add.get("dataChange", False))
        elif remove := action.get("remove"):
            removed.append(_file(remove))
            changes_rows |= bool(remove.get("dataChange", False))
        elif action.get("commitInfo"):
            info = action["commitInfo"]
        elif action.get("protocol"):
            protocols.append(action["protocol"])
        elif action.get("metaData"):
            metadata = action["metaData"]
    require_known(path, protocols, _OPERATION)
    at = int(info.get("timestamp") or 0)
    return CommitChanges(
        version,
        at,
        info,
        tuple(added),
        tuple(removed),
        changes_rows,
        columns=_columns(metadata["schemaString"]) if metadata else None,
        table_id=metadata.get("id", ""),
        is_checkpoint=is_checkpoint,
        is_empty=is_empty and not is_checkpoint,
    )


def _file(action: Mapping[str, Any]) -> TableFile:
    vector = action.get("deletionVector")
    stats = json.loads(action.get("stats") or "{}")
    rows = stats.get("numRecords")
    path = unquote(action["path"])
    beside = vector_path(vector) if vector else None
    identity = path if not vector else f"{path}#{vector['pathOrInlineDv']}@{vector.get('offset')}"
    values = action.get("partitionValues")
    return TableFile(
        identity,
        None if values is None else dict(values),
        None if rows is None else int(rows) - int((vector or {}).get("cardinality", 0)),
        int(action.get("size") or 0),
        (path, beside) if beside else (path,),
    )


def _columns(schema: str) -> dict[str, str]:
    fields = json.loads(schema)["fields"]
    return {
        field["name"]: field["type"] if isinstance(field["type"], str) else json_text(field["type"], sort_keys=True)
        for field in fields
    }

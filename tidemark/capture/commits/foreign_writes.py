"""Commits by another program that changed rows of a captured table, and RESTORE.

After such a commit the rows no longer match capture's offsets, so a merge would build on wrong rows. A RESTORE to one
of capture's own versions repairs the table.
"""

from typing import Any, Final, NamedTuple

from tidemark.capture.commits.commit_state import Commit
from tidemark.capture.errors import ForeignWriteError
from tidemark.delta.commit_content import CommitContent, commit_content
from tidemark.delta.repaired_version import is_repair
from tidemark.system.table_location import TableLocation

_RESTORE: Final = "RESTORE"


class ForeignWrite(NamedTuple):
    """The version of a foreign commit, and Delta's name of the operation."""

    version: int
    operation: str


def write_of_others(path: TableLocation, last: Commit, newest: int) -> ForeignWriteError | None:
    """The error for a foreign write before or after capture's `last` commit; `newest` is the table's version."""
    beneath = write_beneath(path, last.version, last.state.follows)
    if beneath is not None:
        return ForeignWriteError.beneath(path.name, last.version, *beneath)
    behind = foreign_write(path, last.version, newest)
    return None if behind is None else ForeignWriteError.of(path.name, last.version, *behind)


def foreign_write(path: TableLocation, own: int, newest: int) -> ForeignWrite | None:
    """The last foreign commit after capture's `own` version; None if the rows are still that version's.

    `newest` is the table's version. OPTIMIZE only moves rows into other files and does not count.
    """
    sound, foreign = {own}, None
    for version in range(own + 1, newest + 1):
        info, changes_rows = _commit(path, version)
        operation = str(info.get("operation", "a write"))
        is_back = operation == _RESTORE and _restored(info) in sound
        is_wanted = not changes_rows or is_repair(info)
        if is_back or (is_wanted and foreign is None):
            foreign = None
            sound.add(version)
        elif not is_wanted:
            foreign = ForeignWrite(version, operation)
    return foreign


def write_beneath(path: TableLocation, version: int, follows: int | None) -> ForeignWrite | None:
    """A foreign write between `follows`, which capture's commit was planned on, and that commit, `version`.

    It happened while capture committed. Versions that the log no longer has were checked in time.
    """
    if follows is None or version <= follows + 1:
        return None
    if any(commit_content(path, between) is None for between in range(follows + 1, version)):
        return None
    return foreign_write(path, follows, version - 1)


def _commit(path: TableLocation, version: int) -> CommitContent:
    gone = CommitContent({"operation": "a commit that the log has no more"}, changes_rows=True)
    return commit_content(path, version) or gone


def _restored(info: dict[str, Any]) -> int | None:
    version = str((info.get("operationParameters") or {}).get("version"))
    return int(version) if version.isdigit() else None

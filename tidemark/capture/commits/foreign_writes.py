"""Commits of a captured table that changed rows and are not capture's: RESTORE, or somebody else's write.

What capture merges next would go on from rows that are not those at its offsets. A RESTORE to capture's own version
makes the table what it was.
"""

from typing import Any, Final, NamedTuple

from tidemark.capture.commits.commit_state import Commit
from tidemark.capture.errors import ForeignWriteError
from tidemark.delta.commit_content import CommitContent, commit_content
from tidemark.delta.repaired_version import is_repair
from tidemark.system.table_location import TableLocation

_RESTORE: Final = "RESTORE"


class ForeignWrite(NamedTuple):
    """The version that it made, and Delta's name of the operation."""

    version: int
    operation: str


def write_of_others(path: TableLocation, last: Commit, newest: int) -> ForeignWriteError | None:
    """Somebody else's write beneath or behind capture's `last` commit; `newest` is the table's version."""
    beneath = write_beneath(path, last.version, last.state.follows)
    if beneath is not None:
        return ForeignWriteError.beneath(path.name, last.version, *beneath)
    behind = foreign_write(path, last.version, newest)
    return None if behind is None else ForeignWriteError.of(path.name, last.version, *behind)


def foreign_write(path: TableLocation, own: int, newest: int) -> ForeignWrite | None:
    """The last commit behind capture's `own` version after which the rows are not those of it; None where they are.

    `newest` is the table's version. A commit that only moves rows into other files (OPTIMIZE) changes none.
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
    """What changed rows after `follows` and before capture's commit `version`, which was planned on the former.

    It came while the commit was made, and the commit is on top of it. What the log has no more was looked at in time.
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

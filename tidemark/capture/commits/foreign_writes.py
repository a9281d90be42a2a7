"""Commits of a captured table that changed rows and are not capture's: RESTORE, or somebody else's write.

What capture merges next would go on from rows that are not those at its offsets. A RESTORE to capture's own version
makes the table what it was.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from tidemark.delta.commit_content import CommitContent, commit_content

_RESTORE: Final = "RESTORE"
_REPAIR: Final = "repair"
"""What `tidemark delta repair` says of its commits: somebody saw what it would do, and wanted it."""


class ForeignWrite(NamedTuple):
    """The version that it made, and Delta's name of the operation."""

    version: int
    operation: str


def foreign_write(path: Path, own: int, newest: int) -> ForeignWrite | None:
    """The last commit behind capture's `own` version after which the rows are not those of it; None where they are.

    `newest` is the table's version. A commit that only moves rows into other files (OPTIMIZE) changes none.
    """
    sound, foreign = {own}, None
    for version in range(own + 1, newest + 1):
        info, changes_rows = _commit(path, version)
        operation = str(info.get("operation", "a write"))
        is_back = operation == _RESTORE and _restored(info) in sound
        is_wanted = not changes_rows or _is_repair(info)
        if is_back or (is_wanted and foreign is None):
            foreign = None
            sound.add(version)
        elif not is_wanted:
            foreign = ForeignWrite(version, operation)
    return foreign


def _commit(path: Path, version: int) -> CommitContent:
    gone = CommitContent({"operation": "a commit that the log has no more"}, changes_rows=True)
    return commit_content(path, version) or gone


def _restored(info: dict[str, Any]) -> int | None:
    version = str((info.get("operationParameters") or {}).get("version"))
    return int(version) if version.isdigit() else None


def _is_repair(info: dict[str, Any]) -> bool:
    try:
        said = json.loads(info.get("userMetadata") or "null")
    except json.JSONDecodeError:
        return False
    return isinstance(said, dict) and _REPAIR in said

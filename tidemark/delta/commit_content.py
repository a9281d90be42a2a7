"""What one commit of a table says of itself, and whether it changed rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.delta.internals.log_files import commit_actions

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation


class CommitContent(NamedTuple):
    """`info` is the commit's commitInfo; an OPTIMIZE, which only moves rows into other files, changes none."""

    info: dict[str, Any]
    changes_rows: bool


def commit_content(path: TableLocation, version: int) -> CommitContent | None:
    """One commit of the table at `path`; None where the log has its file no more."""
    actions = commit_actions(path, version)
    if actions is None:
        return None
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    files = (action.get("add") or action.get("remove") or {} for action in actions)
    return CommitContent(info, any(file.get("dataChange", False) for file in files))

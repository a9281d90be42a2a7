"""The metadata of one commit, and whether it changed rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.delta.internals.log_files import commit_actions

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation


class CommitContent(NamedTuple):
    """`info` is the commitInfo. An OPTIMIZE only moves rows into other files, so it does not change rows."""

    info: dict[str, Any]
    changes_rows: bool


def commit_content(path: TableLocation, version: int) -> CommitContent | None:
    """One commit of the table at `path`; None if the log no longer has its file."""
    actions = commit_actions(path, version)
    if actions is None:
        return None
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    files = (action.get("add") or action.get("remove") or {} for action in actions)
    return CommitContent(info, any(file.get("dataChange", False) for file in files))

"""The version that repairs made of another one, while no other commit changed rows, by the log alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.delta.commit_content import commit_content
from tidemark.delta.own_commit import REPAIR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation


class Repairs(NamedTuple):
    """The version of the last repair, None if there is none. With `is_over`, no further repairs can follow."""

    last: int | None
    is_over: bool


def repairs_of(path: TableLocation, version: int) -> Repairs:
    """The repairs that follow a version, before any other commit that changes rows.

    Commits that only move rows into other files do not count.
    """
    last, following = None, version + 1
    while (content := commit_content(path, following)) is not None:
        if is_repair(content.info):
            last = following
        elif content.changes_rows:
            return Repairs(last, is_over=True)
        following += 1
    return Repairs(last, is_over=False)


def is_repaired_since(path: TableLocation, version: int, partition: Mapping[str, object]) -> bool:
    """Whether a commit after a version repaired that partition."""
    own, following = {name: str(value) for name, value in partition.items()}, version + 1
    while (content := commit_content(path, following)) is not None:
        if _repaired_partition(content.info) == own:
            return True
        following += 1
    return False


def is_repair(info: Mapping[str, Any]) -> bool:
    """Whether a commit's `commitInfo` shows a repair of a partition."""
    return _told(info) is not None


def _repaired_partition(info: Mapping[str, Any]) -> object:
    told = _told(info)
    return told.get("partition") if isinstance(told, dict) else None


def _told(info: Mapping[str, Any]) -> object:
    """A repair's metadata; None for any other commit."""
    try:
        said = json.loads(info.get("userMetadata") or "null")
    except json.JSONDecodeError:
        return None
    return said.get(REPAIR) if isinstance(said, dict) else None

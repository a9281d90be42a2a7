"""Which version a repair has made of another one, as long as nothing else changed rows after it: from the log alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.delta.commit_content import commit_content
from tidemark.delta.own_commit import REPAIR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation


class Repairs(NamedTuple):
    """The version that the last of them made, None without one; no further ones can follow where it `is_over`."""

    last: int | None
    is_over: bool


def repairs_of(path: TableLocation, version: int) -> Repairs:
    """The repairs that follow a version, before any other commit that changes rows.

    Commits between that only move rows into other files change nothing.
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
    """Whether one of the commits after a version repaired that partition."""
    own, following = {name: str(value) for name, value in partition.items()}, version + 1
    while (content := commit_content(path, following)) is not None:
        if _repaired_partition(content.info) == own:
            return True
        following += 1
    return False


def is_repair(info: Mapping[str, Any]) -> bool:
    """Whether a commit's `commitInfo` says that it repaired a partition."""
    return _told(info) is not None


def _repaired_partition(info: Mapping[str, Any]) -> object:
    told = _told(info)
    return told.get("partition") if isinstance(told, dict) else None


def _told(info: Mapping[str, Any]) -> object:
    """What a repair says of itself; None of any other commit."""
    try:
        said = json.loads(info.get("userMetadata") or "null")
    except json.JSONDecodeError:
        return None
    return said.get(REPAIR) if isinstance(said, dict) else None

"""Which commits of a table are ours, as they say of themselves: a write of slices, a repair, a capture's batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tidemark.delta.commit_info import IDENTITY
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITE: Final = "write"
"""The key of the mark that a write of slices leaves in its commit's metadata."""
REPAIR: Final = "repair"
REPLICA: Final = "replica"
"""That of a replication, which publishes a slice of another lake."""
OWN_COMMIT: Final = json_text({WRITE: ""})
"""What a commit says that has nothing else to say."""
_OWN: Final = frozenset({WRITE, REPAIR, REPLICA, IDENTITY})


def is_own(info: Mapping[str, Any]) -> bool:
    """Whether a commit's `commitInfo` says that it is ours; Dagster's event log tells of older ones, which do not."""
    return not _OWN.isdisjoint(_said(info))


def replica_told(info: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the commit of a replication says of the slice that it publishes; None of any other commit."""
    told = _said(info).get(REPLICA)
    return told if isinstance(told, dict) else None


def _said(info: Mapping[str, Any]) -> dict[str, Any]:
    try:
        said = json.loads(info.get("userMetadata") or "null")
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}

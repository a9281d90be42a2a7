"""Recognises Tidemark's own commits by their metadata: a write of slices, a repair, a capture's batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tidemark.delta.commit_info import IDENTITY
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITE: Final = "write"
"""The metadata key of a write of slices."""
REPAIR: Final = "repair"
REPLICA: Final = "replica"
"""The metadata key of a replication, which publishes a slice of another lake."""
OWN_COMMIT: Final = json_text({WRITE: ""})
"""The metadata of a commit without other metadata."""
_OWN: Final = frozenset({WRITE, REPAIR, REPLICA, IDENTITY})


def is_own(info: Mapping[str, Any]) -> bool:
    """Whether a commit's `commitInfo` marks it as ours. Older commits have no mark; Dagster's event log shows them."""
    return not _OWN.isdisjoint(_said(info))


def replica_told(info: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A replication's metadata about the slice that it publishes; None for any other commit."""
    told = _said(info).get(REPLICA)
    return told if isinstance(told, dict) else None


def _said(info: Mapping[str, Any]) -> dict[str, Any]:
    try:
        said = json.loads(info.get("userMetadata") or "null")
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}

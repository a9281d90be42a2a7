"""The table features that our readers of the log support.

With any other feature, the log may mean more than they read.
"""

from collections.abc import Iterable
from typing import Any, Final

from tidemark.delta.errors import TableFeatureError
from tidemark.system.table_location import TableLocation

KNOWN: Final = frozenset(
    {
        "allowColumnDefaults",
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "checkpointProtection",
        "clustering",
        "collations",
        "columnMapping",
        "deletionVectors",
        "domainMetadata",
        "generatedColumns",
        "icebergCompatV1",
        "icebergCompatV2",
        "identityColumns",
        "inCommitTimestamp",
        "invariants",
        "rowTracking",
        "timestampNtz",
        "typeWidening",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantType",
    }
)
"""These features put neither data nor commits into other places than `log_files` and `log_replay` read."""

_PREVIEW = "-preview"
_NEWEST_READER, _NEWEST_WRITER = 3, 7


def require_known(path: TableLocation, protocols: Iterable[dict[str, Any]], operation: str) -> None:
    """Raise TableFeatureError if one of the log's `protocol` actions has an unknown feature or version."""
    unknown: set[str] = set()
    for protocol in protocols:
        named = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
        unknown |= {name for name in named if name.removesuffix(_PREVIEW) not in KNOWN}
        for kind, newest in (("minReaderVersion", _NEWEST_READER), ("minWriterVersion", _NEWEST_WRITER)):
            if int(protocol.get(kind) or 0) > newest:
                unknown.add(f"{kind} {protocol[kind]}")
    if unknown:
        raise TableFeatureError.unknown(path, sorted(unknown), operation)

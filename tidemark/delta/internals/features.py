"""The table features that whoever reads the log by hand knows: with any other one the log may say more than is read."""

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
"""None of them puts data into other files, or commits into another place, than `log_files` and `log_replay` look at."""

_PREVIEW = "-preview"
_NEWEST_READER, _NEWEST_WRITER = 3, 7


def require_known(path: TableLocation, protocols: Iterable[dict[str, Any]], operation: str) -> None:
    """Raise TableFeatureError where one of the log's `protocol` actions names a feature or version not known here."""
    unknown: set[str] = set()
    for protocol in protocols:
        named = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
        unknown |= {name for name in named if name.removesuffix(_PREVIEW) not in KNOWN}
        for kind, newest in (("minReaderVersion", _NEWEST_READER), ("minWriterVersion", _NEWEST_WRITER)):
            if int(protocol.get(kind) or 0) > newest:
                unknown.add(f"{kind} {protocol[kind]}")
    if unknown:
        raise TableFeatureError.unknown(path, sorted(unknown), operation)

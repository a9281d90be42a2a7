"""The commit that publishes a slice at a replica. Readers there see the slice before it or after it.

The log has the checksum of each file, and the table names the table that it replicates. So a replica shows what it
should hold, even if the source's state store is lost.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.delta.own_commit import REPLICA
from tidemark.delta.published_slice import fault_app, generation_app, version_app
from tidemark.replication.errors import ReplicaTableTakenError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.delta.internals.version_content import FileKey, VersionContent
    from tidemark.replication.file_plan import FilePlan
    from tidemark.system.table_location import TableLocation

OF_TABLE: Final = "tidemark.replica.of"
OF_VERSION: Final = "tidemark.replica.version"
"""Properties of a replica: the id of its source, and the source's version of its schema."""
CHECKSUM: Final = "tidemark.sha256"
VECTOR_CHECKSUM: Final = "tidemark.vector.sha256"
"""Tags of the replica's files."""
_DROPPED_FEATURES: Final = frozenset(
    {
        *("clustering", "domainMetadata", "checkpointProtection", "inCommitTimestamp", "rowTracking"),
        *("icebergCompatV1", "icebergCompatV2"),
    }
)
"""Features that only writers of the source need, or that would need more entries in a replica's commits."""
_DROPPED_PROPERTIES: Final = (
    *("delta.enableInCommitTimestamps", "delta.inCommitTimestampEnablement", "delta.enableRowTracking"),
    *("delta.enableIcebergCompat", "delta.rowTracking", "delta.requireCheckpointProtection"),
    "delta.setTransactionRetentionDuration",
)
_OF_ADD: Final = frozenset({"path", "partitionValues", "size", "modificationTime", "stats", "tags", "deletionVector"})
_OF_REMOVE: Final = frozenset({"path", "partitionValues", "size", "deletionVector"})


@dataclass(frozen=True)
class ReplicaCommit:
    """`told` is the commit's metadata about the slice; `tags` are the checksums of added files."""

    source: VersionContent
    plan: FilePlan
    told: Mapping[str, Any]
    tags: Mapping[FileKey, Mapping[str, str]]


def require_replica_of(source: VersionContent, replica: VersionContent, where: TableLocation) -> None:
    """Raise ReplicaTableTakenError if the table is not the replica of the source, nor the original of it."""
    expected, told = str(source.metadata["id"]), replica.metadata.get("configuration", {}).get(OF_TABLE, "")
    original = (source.metadata.get("configuration") or {}).get(OF_TABLE, "")
    if told != expected and str(replica.metadata["id"]) != original:
        raise ReplicaTableTakenError.of(where, expected, told)


def commit_actions_of(publication: ReplicaCommit, replica: VersionContent | None) -> list[Mapping[str, Any]]:
    """The actions of the commit in the replica's log; `replica` is None if there is no table yet."""
    plan, now_ms = publication.plan, time.time_ns() // 1_000_000
    made, slice_ = 0 if replica is None else replica.version + 1, str(publication.told["slice"])
    marks = {generation_app(slice_): publication.told["generation"], version_app(slice_): made}
    return [
        _info(publication.told, now_ms),
        *(_mark(app, number, now_ms) for app, number in marks.items()),
        *_table_actions(publication.source, replica),
        *({"remove": _removed(replica.files[key], now_ms)} for key in sorted(plan.removed) if replica),
        *({"add": _added(publication, key)} for key in sorted(plan.added)),
    ]


def fault_actions_of(told: Mapping[str, Any], version: int) -> list[Mapping[str, Any]]:
    """The actions of a commit that tells a fault of a published slice (`told["fault"]`), or that it is over."""
    now_ms = time.time_ns() // 1_000_000
    return [_info(told, now_ms), _mark(fault_app(str(told["slice"])), version if told["fault"] else 0, now_ms)]


def _info(told: Mapping[str, Any], now_ms: int) -> Mapping[str, Any]:
    info = {
        "timestamp": now_ms,
        "operation": "REPLICATE",
        "operationParameters": {},
        "isBlindAppend": False,
        "engineInfo": "tidemark",
        "userMetadata": json_text({REPLICA: told}),
    }
    return {"commitInfo": info}


def _mark(app: str, number: int, now_ms: int) -> Mapping[str, Any]:
    return {"txn": {"appId": app, "version": number, "lastUpdated": now_ms}}


def _table_actions(source: VersionContent, replica: VersionContent | None) -> list[Mapping[str, Any]]:
    """Protocol and metadata, if they change. An older version's schema does not replace a newer one."""
    protocol = _protocol_of(source.protocol, replica.protocol if replica else {})
    own = dict(replica.metadata.get("configuration") or {}) if replica else {}
    is_older = int(own.get(OF_VERSION, -1)) > source.version
    actions: list[Mapping[str, Any]] = []
    if replica is None or protocol != _sorted_features(replica.protocol):
        actions.append({"protocol": protocol})
    if not is_older and (replica is None or _schema(source.metadata) != _schema(replica.metadata)):
        kept = (
            {name: replica.metadata[name] for name in ("id", "createdTime") if name in replica.metadata}
            if replica
            else {}
        )
        identity = kept or {"id": str(uuid.uuid4()), "createdTime": time.time_ns() // 1_000_000}
        marks = {OF_TABLE: str(source.metadata["id"]), OF_VERSION: str(source.version)}
        actions.append(
            {"metaData": {**source.metadata, **identity, "configuration": {**_properties(source.metadata), **marks}}}
        )
    return actions


def _schema(metadata: Mapping[str, Any]) -> tuple[object, ...]:
    return metadata["schemaString"], list(metadata.get("partitionColumns") or ()), _properties(metadata)


def _properties(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The source's properties that the replica has too."""
    properties = metadata.get("configuration") or {}
    dropped = (*_DROPPED_PROPERTIES, OF_TABLE, OF_VERSION)
    return {name: value for name, value in properties.items() if not name.startswith(dropped)}


def _protocol_of(source: Mapping[str, Any], replica: Mapping[str, Any]) -> dict[str, Any]:
    """The protocol for readers and writers of the replica. It never loses a feature or version."""
    versions = {
        name: max(int(source.get(name) or 0), int(replica.get(name) or 0))
        for name in ("minReaderVersion", "minWriterVersion")
    }
    features = {
        name: sorted({*(source.get(name) or ()), *(replica.get(name) or ())} - _DROPPED_FEATURES)
        for name, version in (("readerFeatures", "minReaderVersion"), ("writerFeatures", "minWriterVersion"))
        if source.get(name) is not None or replica.get(name) is not None
    }
    return {**versions, **features}


def _sorted_features(protocol: Mapping[str, Any]) -> dict[str, Any]:
    return {name: sorted(value) if isinstance(value, list) else value for name, value in protocol.items()}


def _added(publication: ReplicaCommit, key: FileKey) -> dict[str, Any]:
    add = publication.source.files[key]
    own = {name: value for name, value in add.items() if name in _OF_ADD and value is not None}
    return {**own, "dataChange": True, "tags": {**(own.get("tags") or {}), **publication.tags[key]}}


def _removed(add: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    own = {name: value for name, value in add.items() if name in _OF_REMOVE and value is not None}
    return {**own, "deletionTimestamp": now_ms, "dataChange": True, "extendedFileMetadata": True}

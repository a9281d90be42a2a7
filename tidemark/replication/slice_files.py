"""The files of a slice in a version of its table: those of its partition, or all files for a snapshot."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.delta.logged_partition import may_be_in
from tidemark.replication.copied_files import file_names
from tidemark.replication.errors import NotReplicatedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.delta.internals.version_content import FileKey, VersionContent
    from tidemark.dependency_model.time.partition_columns import PartitionValue
    from tidemark.system.table_location import TableLocation

    Files = Mapping[FileKey, Mapping[str, Any]]


@dataclass(frozen=True)
class SliceFiles:
    """`partition` has the values of the slice's partition columns; empty for the whole table."""

    partition: Mapping[str, PartitionValue]

    def of(self, content: VersionContent) -> dict[FileKey, Mapping[str, Any]]:
        """The files of the slice. Raises NotReplicatedError if the table is not partitioned by these columns."""
        columns = _logged_names(content.metadata)
        missing = [name for name in self.partition if name not in columns]
        if missing:
            raise NotReplicatedError.not_partitioned(missing[0], sorted(columns))
        wanted = {columns[name]: value for name, value in self.partition.items()}
        if not wanted:
            return dict(content.files)
        return {key: add for key, add in content.files.items() if may_be_in(add["partitionValues"], [wanted])}

    def names(self, content: VersionContent, where: TableLocation) -> set[str]:
        """The names of the slice's files, with deletion vectors."""
        return {name for add in self.of(content).values() for name in file_names(add, where)}


def rows_of(adds: Iterable[Mapping[str, Any]]) -> int | None:
    """The number of visible rows; None if the log lacks the count of a file."""
    counts = [_rows(add) for add in adds]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _rows(add: Mapping[str, Any]) -> int | None:
    told = json.loads(add.get("stats") or "{}").get("numRecords")
    return None if told is None else int(told) - int((add.get("deletionVector") or {}).get("cardinality", 0))


def _logged_names(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The log's names of the partition columns, by their names in queries; they differ under column mapping."""
    fields = {field["name"]: field.get("metadata") or {} for field in json.loads(metadata["schemaString"])["fields"]}
    return {
        name: str(fields.get(name, {}).get("delta.columnMapping.physicalName", name))
        for name in metadata.get("partitionColumns") or ()
    }

"""Keeps the Iceberg metadata of one entity: `main` is the newest Delta version, and each slice and tag has a tag.

The metadata lists the Parquet files of the Delta table, so no rows are copied. Each call compares the newest metadata
with the Delta log and the state store, and commits one further version if they differ. So a call that failed or died
leaves nothing to repair: the next one does the rest. Ids and file names follow from their content.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.parquet as pq
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema

from tidemark.delta.errors import VersionGoneError
from tidemark.delta.iceberg_metadata import KEPT_VERSIONS, ROWS_VERSION, IcebergMetadata, MetadataVersion
from tidemark.delta.internals.version_content import newest_content, version_content
from tidemark.engines.errors import IcebergCannotHoldError
from tidemark.engines.iceberg.hidden_row_files import HIDDEN_ROWS_FOLDER, hidden_positions, put_hidden_rows
from tidemark.engines.iceberg.iceberg_schema import FieldIds, fields_of
from tidemark.engines.iceberg.listed_file import ListedFile, digest_of, number_of
from tidemark.engines.iceberg.manifests import ManifestFolder
from tidemark.engines.iceberg.named_rows import MAIN, NamedRows
from tidemark.engines.iceberg.partition_index import LastChanges, files_by_partition
from tidemark.engines.iceberg.partition_text import partition_value
from tidemark.engines.iceberg.unused_files import delete_unused
from tidemark.engines.table_uri import file_uri, table_uri
from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.delta.internals.version_content import FileKey, VersionContent
    from tidemark.engines.iceberg.manifests import WrittenManifests
    from tidemark.engines.iceberg.partition_index import Files, Values
    from tidemark.system.table_location import TableLocation

VERSION: Final = "tidemark.version"
GENERATION: Final = "tidemark.generation"
_NAME: Final = "tidemark.name"
_FILES: Final = "tidemark.files"
_FIRST_PARTITION_FIELD: Final = 1_000
_CLEANED_EVERY: Final = 100
_UNUSED_AGE: Final = timedelta(days=1)
_AT_ONCE: Final = 50
"""The most new names in one version of the metadata: then it is committed, and the rest follows."""


class Chosen(NamedTuple):
    """The files to list for a name, in the Delta version `content`."""

    content: VersionContent
    files: Files


@dataclass
class IcebergTable:
    """The metadata of one entity. `delta` is the Delta table, `metadata` the place of Iceberg's."""

    delta: TableLocation
    metadata: IcebergMetadata
    _manifests: WrittenManifests = field(default_factory=dict)

    def keep(self, wanted: Sequence[NamedRows], now: datetime) -> int | None:
        """Commit what is missing. Returns the number of names that the metadata has; None if there is no table.

        Raises IcebergCannotHoldError, and the errors of the Delta log and of the store.
        """
        more = True
        while more:
            content = newest_content(self.delta)
            if content is None:
                return None
            writing = _Writing(self.delta, self.metadata, self._manifests, content, wanted, now)
            more = writing.commit()
        return writing.named


@dataclass
class _Writing:
    """One further version of the metadata."""

    delta: TableLocation
    metadata: IcebergMetadata
    manifests: WrittenManifests
    content: VersionContent
    wanted: Sequence[NamedRows]
    now: datetime
    named: int = 0
    _schemas: list[dict[str, Any]] = field(default_factory=list)
    _specs: list[dict[str, Any]] = field(default_factory=list)
    _contents: dict[int, VersionContent] = field(default_factory=dict)
    _kept: set[int] = field(default_factory=set)

    def commit(self) -> bool:
        """Commit if something changed. Returns whether there is more to do."""
        held = self.metadata.newest()
        number = held.number if held else 0
        self.metadata.put_hint(number)
        before = held.content if held and held.content["table-uuid"] == self.content.metadata["id"] else {}
        self._schemas, self._specs = [*before.get("schemas", ())], [*before.get("partition-specs", ())]
        self._ids = FieldIds.of(self._schemas, before.get("last-column-id", 0))
        self._sequence = before.get("last-sequence-number", 0)
        snapshots = {told["snapshot-id"]: told for told in before.get("snapshots", ())}
        refs = {name: snapshots[ref["snapshot-id"]] for name, ref in before.get("refs", {}).items()}
        new, is_all = self._named(refs)
        main = self._main(refs.get(MAIN))
        self.named = len(new)
        if {MAIN: main, **new} == refs:
            return False
        document = self._document(before, main, new)
        if not self.metadata.put(MetadataVersion(number + 1, document)):
            return True
        if (number + 1) % _CLEANED_EVERY == 0:
            delete_unused(self._folder, document["snapshots"], self.now - _UNUSED_AGE)
        return not is_all

    def _named(self, refs: Mapping[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], bool]:
        """The snapshot of each name, and whether these are all names."""
        named, fresh = dict[str, dict[str, Any]](), 0
        for rows in self.wanted:
            held = refs.get(rows.name)
            if held is not None and self._holds(held, rows):
                named[rows.name] = held
            elif fresh == _AT_ONCE:
                continue
            elif chosen := self._choose(rows, held):
                fresh += 1
                named[rows.name] = self._snapshot(rows, chosen)
            told = named[rows.name]["summary"] if rows.name in named else None
            if told and (rows.is_fixed or told[_FILES] != _digest(self._files_now(rows))):
                self._kept.add(int(told[ROWS_VERSION]))
        return named, fresh < _AT_ONCE

    def _holds(self, held: Mapping[str, Any], rows: NamedRows) -> bool:
        """Whether a snapshot has the rows in files that stay: those of a tag, or of the newest version."""
        told = held["summary"]
        if (told[VERSION], told[GENERATION]) != (str(rows.version), str(rows.generation)):
            return False
        if rows.is_fixed or told[_FILES] == _digest(self._files_now(rows)):
            return True
        return told[ROWS_VERSION] != str(self.content.version) and self._choose(rows, held) is None

    def _choose(self, rows: NamedRows, held: Mapping[str, Any] | None) -> Chosen | None:
        """The files of the name; None if its version is gone, or if `held` already has the right ones.

        Files of the newest version stay. The slice's own version is taken if a later commit changed its rows.
        """
        version, now = rows.version, self.content.version
        if version is not None and version > now:
            return None
        if rows.is_fixed:
            tagged = self._content(version)
            return None if tagged is None else Chosen(tagged, dict(tagged.files))
        newest = Chosen(self.content, self._files_now(rows))
        if version is None or self._last_changes.of_partition(tuple(rows.partition.values())) <= version:
            return newest
        own = self._content(version)
        files = files_by_partition(own, rows.partition).get(tuple(rows.partition.values()), {}) if own else {}
        if own is None or not self._are_there(files):
            return newest
        is_held = held is not None and held["summary"][ROWS_VERSION] == str(version)
        return None if is_held else Chosen(own, files)

    def _files_now(self, rows: NamedRows) -> Files:
        columns = tuple(rows.partition)
        if columns not in self._by_partition:
            there = self.content.metadata.get("partitionColumns") or ()
            if missing := set(columns) - set(there):
                raise IcebergCannotHoldError.columns(self.delta.name, sorted(missing), there)
            self._by_partition[columns] = files_by_partition(self.content, rows.partition)
        return self._by_partition[columns].get(tuple(rows.partition.values()), {})

    @cached_property
    def _by_partition(self) -> dict[tuple[str, ...], dict[Values, Files]]:
        return {}

    @cached_property
    def _last_changes(self) -> LastChanges:
        """The changes after the oldest version of a slice."""
        computed = [rows for rows in self.wanted if not rows.is_fixed and rows.version is not None]
        oldest = min((rows.version for rows in computed if rows.version is not None), default=self.content.version)
        like = next((rows.partition for rows in computed), {})
        return LastChanges.of(self.delta, like, oldest, self.content.version)

    def _content(self, version: int | None) -> VersionContent | None:
        """A version of the table; None if its log or files are gone."""
        if version is None or version == self.content.version:
            return self.content
        if version not in self._contents:
            try:
                self._contents[version] = version_content(self.delta, version)
            except VersionGoneError:
                return None
        return self._contents[version]

    def _are_there(self, files: Iterable[FileKey]) -> bool:
        store, folder = stored_files(self.delta), table_uri(self.delta)
        return all(store.exists(file_uri(folder, key.path).removeprefix(f"{folder}/")) for key in files)

    def _main(self, held: dict[str, Any] | None) -> dict[str, Any]:
        version = self.content.version
        if held is not None and held["summary"][VERSION] == str(version):
            return held
        rows = NamedRows(MAIN, version, 0, {}, is_fixed=True)
        return self._snapshot(rows, Chosen(self.content, dict(self.content.files)))

    def _snapshot(self, rows: NamedRows, chosen: Chosen) -> dict[str, Any]:
        schema, spec = self._schema(chosen.content), self._spec(chosen.content)
        listed = self._files(chosen, spec, schema)
        told = {
            "operation": "append",
            "total-data-files": str(len(listed)),
            "total-records": str(sum(file.rows for file in listed)),
            "total-position-deletes": str(sum(file.hidden for file in listed)),
            VERSION: str(rows.version),
            GENERATION: str(rows.generation),
            ROWS_VERSION: str(chosen.content.version),
            _NAME: rows.name,
            _FILES: _digest(chosen.files),
        }
        self._sequence += 1
        id_ = number_of(digest_of(*told.values(), str(schema.schema_id), *sorted(file.text for file in listed)))
        manifests = self._folder.manifests_of(listed, schema, spec)
        return {
            "snapshot-id": id_,
            "sequence-number": self._sequence,
            "timestamp-ms": self._now_ms,
            "manifest-list": self._folder.list_of(id_, self._sequence, manifests),
            "summary": told,
            "schema-id": schema.schema_id,
        }

    @cached_property
    def _folder(self) -> ManifestFolder:
        return ManifestFolder(self.metadata.location, table_uri(self.metadata.location), self.manifests, self.now)

    @property
    def _now_ms(self) -> int:
        return round(self.now.astimezone(UTC).timestamp() * 1_000)

    def _schema(self, content: VersionContent) -> Schema:
        mode = (content.metadata.get("configuration") or {}).get("delta.columnMapping.mode", "none")
        if mode != "none":
            raise IcebergCannotHoldError.mapping(self.delta.name, mode)
        fields = fields_of(content.metadata["schemaString"], self._ids, self.delta.name)
        held = next((told for told in self._schemas if told["fields"] == fields), None)
        if held is None:
            number = max((told["schema-id"] for told in self._schemas), default=-1) + 1
            held = {"type": "struct", "schema-id": number, "fields": fields}
            self._schemas.append(held)
        return Schema.model_validate(held)

    def _spec(self, content: VersionContent) -> PartitionSpec:
        fields = [
            {"name": name, "transform": "identity", "source-id": id_, "field-id": _FIRST_PARTITION_FIELD + id_}
            for name in content.metadata.get("partitionColumns") or ()
            for id_ in [self._ids.of_path((name,))]
        ]
        held = next((told for told in self._specs if told["fields"] == fields), None)
        if held is None:
            number = max((told["spec-id"] for told in self._specs), default=-1) + 1
            held = {"spec-id": number, "fields": fields}
            self._specs.append(held)
        return PartitionSpec.model_validate(held)

    def _files(self, chosen: Chosen, spec: PartitionSpec, schema: Schema) -> list[ListedFile]:
        types = {told.name: str(schema.find_type(told.name)) for told in spec.fields}
        return [self._file(key, add, types) for key, add in chosen.files.items()]

    def _file(self, key: FileKey, add: Mapping[str, Any], types: Mapping[str, str]) -> ListedFile:
        folder = table_uri(self.delta)
        uri, logged = file_uri(folder, key.path), add.get("partitionValues") or {}
        values = tuple(partition_value(logged.get(name), type_, self.delta.name, name) for name, type_ in types.items())
        rows = json.loads(add.get("stats") or "{}").get("numRecords")
        if rows is None:
            source = stored_files(self.delta).arrow_source(uri.removeprefix(f"{folder}/"))
            rows = pq.read_metadata(source).num_rows
        listed = ListedFile(uri, values, int(rows), int(add["size"]))
        if not key.vector:
            return listed
        name = f"{HIDDEN_ROWS_FOLDER}/{digest_of(uri, key.vector)}-deletes.parquet"
        positions = hidden_positions(self.delta, add["deletionVector"])
        size = put_hidden_rows(self.metadata.location, name, uri, positions)
        deletes = f"{table_uri(self.metadata.location)}/{name}"
        return replace(listed, deletes=deletes, hidden=len(positions), deletes_bytes=size)

    def _document(
        self, before: Mapping[str, Any], main: dict[str, Any], named: Mapping[str, dict[str, Any]]
    ) -> dict[str, Any]:
        """The metadata's content (Iceberg's specification, "Table Metadata Fields", version 2)."""
        refs = {name: {"snapshot-id": told["snapshot-id"], "type": "tag"} for name, told in named.items()}
        snapshots = {told["snapshot-id"]: told for told in (*named.values(), main)}
        used = {told["schema-id"] for told in snapshots.values()}
        return {
            "format-version": 2,
            "table-uuid": self.content.metadata["id"],
            "location": table_uri(self.metadata.location),
            "last-sequence-number": self._sequence,
            "last-updated-ms": max(self._now_ms, before.get("last-updated-ms", 0)),
            "last-column-id": self._ids.last,
            "current-schema-id": main["schema-id"],
            "schemas": [told for told in self._schemas if told["schema-id"] in used],
            "default-spec-id": self._spec(self.content).spec_id,
            "partition-specs": self._specs,
            "last-partition-id": _FIRST_PARTITION_FIELD + self._ids.last,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": {
                "schema.name-mapping.default": json_text(self._ids.name_mapping()),
                KEPT_VERSIONS: ",".join(map(str, sorted(self._kept))),
            },
            "current-snapshot-id": main["snapshot-id"],
            "snapshots": [*snapshots.values()],
            "snapshot-log": [{"timestamp-ms": main["timestamp-ms"], "snapshot-id": main["snapshot-id"]}],
            "metadata-log": [],
            "refs": {MAIN: {"snapshot-id": main["snapshot-id"], "type": "branch"}, **refs},
        }


def _digest(files: Iterable[FileKey]) -> str:
    return digest_of(*sorted(f"{key.path} {key.vector}" for key in files))

"""Manifests and their lists, by PyIceberg. A manifest's name is a digest of its entries, so versions share manifests.

Sorted files are cut into manifests at files whose digest says so (content-defined chunking). A change of some files
changes only their manifests.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pyiceberg.io import OutputFile
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.typedef import Record

from tidemark.delta.iceberg_metadata import FOLDER
from tidemark.engines.iceberg.listed_file import digest_of, number_of
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyiceberg.io import InputFile, OutputStream
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema

    from tidemark.engines.iceberg.listed_file import ListedFile
    from tidemark.system.table_location import TableLocation

WrittenManifests = dict[str, tuple[ManifestFile, datetime]]
"""The manifests that this process has written, by digest, with the time."""
_TRUSTED: Final = timedelta(hours=12)
"""The time for which a written manifest is surely there. Unused ones are deleted after a day."""
_MOST_WRITTEN: Final = 10_000
_FILES: Final = 256
"""The mean number of files in a manifest."""
_CODEC: Final = "deflate"
_ALL_AT_ONCE: Final = 1
"""The sequence number of all entries. Hidden rows are listed for files of the same or an older number."""
_PATH_FIELD: Final = 2147483546
"""Iceberg's reserved id of the path in files of deleted rows."""


@dataclass(frozen=True)
class ManifestFolder:
    """The metadata folder of one table; `uri` is the table's own. `written` is kept from one version to the next."""

    location: TableLocation
    uri: str
    written: WrittenManifests
    now: datetime

    def list_of(self, snapshot_id: int, sequence: int, manifests: Sequence[ManifestFile]) -> str:
        """The URI of the written list of a snapshot's manifests."""
        output = _Buffer(f"{self.uri}/{FOLDER}/snap-{snapshot_id}.avro")
        with write_manifest_list(2, output, snapshot_id, None, sequence, _CODEC) as writer:
            if manifests:
                writer.add_manifests([*manifests])
        crash_point("iceberg.listing")
        self._put(output)
        return output.location

    def manifests_of(self, files: Sequence[ListedFile], schema: Schema, spec: PartitionSpec) -> list[ManifestFile]:
        """The manifests of files, and of their hidden rows, written where they are missing."""
        ordered = sorted(files, key=lambda file: file.uri)
        made = [self._manifest(some, schema, spec, ManifestContent.DATA) for some in _chunks(ordered)]
        hiding = [file for file in ordered if file.deletes]
        return made + [self._manifest(some, schema, spec, ManifestContent.DELETES) for some in _chunks(hiding)]

    def _manifest(
        self, files: Sequence[ListedFile], schema: Schema, spec: PartitionSpec, content: ManifestContent
    ) -> ManifestFile:
        digest = digest_of(content.name, spec.model_dump_json(), *(file.text for file in files))
        if digest in self.written and self.now - self.written[digest][1] < _TRUSTED:
            return self.written[digest][0]
        output = _Buffer(f"{self.uri}/{FOLDER}/{digest}.avro")
        with _Writer(spec, schema, output, number_of(digest), content) as writer:
            for file in files:
                writer.existing(_entry(file, content, number_of(digest)))
        crash_point("iceberg.manifest")
        self._put(output)
        manifest = writer.to_manifest_file()
        manifest.sequence_number = _ALL_AT_ONCE
        if len(self.written) >= _MOST_WRITTEN:
            self.written.clear()
        self.written[digest] = manifest, self.now
        return manifest

    def _put(self, output: _Buffer) -> None:
        stored_files(self.location).put(output.location.removeprefix(f"{self.uri}/"), output.content)


def _chunks(files: Sequence[ListedFile]) -> Iterator[Sequence[ListedFile]]:
    first = 0
    for at, file in enumerate(files, 1):
        if at == len(files) or zlib.crc32(file.uri.encode()) % _FILES == 0:
            yield files[first:at]
            first = at


def _entry(file: ListedFile, content: ManifestContent, snapshot_id: int) -> ManifestEntry:
    told = _data(file) if content is ManifestContent.DATA else _deletes(file)
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.EXISTING,
        snapshot_id=snapshot_id,
        sequence_number=_ALL_AT_ONCE,
        file_sequence_number=_ALL_AT_ONCE,
        data_file=DataFile.from_args(file_format=FileFormat.PARQUET, partition=Record(*file.partition), **told),
    )


def _data(file: ListedFile) -> dict[str, Any]:
    told = {"file_path": file.uri, "record_count": file.rows, "file_size_in_bytes": file.size_bytes}
    return {"content": DataFileContent.DATA, **told}


def _deletes(file: ListedFile) -> dict[str, Any]:
    only = {_PATH_FIELD: file.uri.encode()}
    told = {"file_path": file.deletes, "record_count": file.hidden, "file_size_in_bytes": file.deletes_bytes}
    return {"content": DataFileContent.POSITION_DELETES, "lower_bounds": only, "upper_bounds": only, **told}


class _Writer(ManifestWriterV2):
    """PyIceberg's writer, for manifests of deleted rows too."""

    def __init__(
        self, spec: PartitionSpec, schema: Schema, output: OutputFile, snapshot_id: int, content: ManifestContent
    ) -> None:
        super().__init__(spec, schema, output, snapshot_id, _CODEC)
        self._content = content

    def content(self) -> ManifestContent:
        return self._content

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "data" if self._content is ManifestContent.DATA else "deletes"}


class _Buffer(OutputFile):
    """A file in memory, which is stored when it is complete."""

    content = b""

    def __len__(self) -> int:
        return len(self.content)

    def exists(self) -> bool:
        return False

    def to_input_file(self) -> InputFile:
        raise NotImplementedError

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: ARG002, FBT001, FBT002 - PyIceberg's own signature
        return _Written(self)


class _Written(io.BytesIO):
    def __init__(self, output: _Buffer) -> None:
        super().__init__()
        self._output = output

    def close(self) -> None:
        if not self.closed:
            self._output.content = self.getvalue()
        super().close()

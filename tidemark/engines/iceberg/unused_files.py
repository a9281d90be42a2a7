"""Deletes files of the metadata that no snapshot lists any more."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from pyiceberg.io import FileIO, InputFile
from pyiceberg.manifest import ManifestContent, read_manifest_list

from tidemark.delta.iceberg_metadata import FOLDER
from tidemark.engines.iceberg.hidden_row_files import HIDDEN_ROWS_FOLDER
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from pyiceberg.io import InputStream, OutputFile

    from tidemark.engines.iceberg.manifests import ManifestFolder


def delete_unused(folder: ManifestFolder, snapshots: Iterable[Mapping[str, Any]], before: datetime) -> None:
    """Delete lists, manifests and files of hidden rows that were written before a time and are in no snapshot.

    A reader that has opened an older version of the metadata may read them, so the time is some hours ago.
    """
    store, used = stored_files(folder.location), {*_used(folder, snapshots)}
    names = [*store.names_in(FOLDER), *store.names_in(HIDDEN_ROWS_FOLDER)]
    unused = [name for name in names if name.endswith((".avro", ".parquet")) and f"{folder.uri}/{name}" not in used]
    store.delete([name for name in unused if store.stat(name).changed < before])


def _used(folder: ManifestFolder, snapshots: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    files = _StoredFiles(folder)
    for told in snapshots:
        yield told["manifest-list"]
        for manifest in read_manifest_list(files.new_input(told["manifest-list"])):
            yield manifest.manifest_path
            if manifest.content == ManifestContent.DELETES:
                yield from (entry.data_file.file_path for entry in manifest.fetch_manifest_entry(files))


class _StoredFiles(FileIO):
    """Files of the table for PyIceberg's readers."""

    def __init__(self, folder: ManifestFolder) -> None:
        super().__init__()
        self._folder = folder

    def new_input(self, location: str) -> InputFile:
        return _StoredInput(location, self._folder)

    def new_output(self, location: str) -> OutputFile:
        raise NotImplementedError

    def delete(self, location: str | InputFile | OutputFile) -> None:
        raise NotImplementedError


class _StoredInput(InputFile):
    def __init__(self, location: str, folder: ManifestFolder) -> None:
        super().__init__(location)
        self._content = stored_files(folder.location).read(location.removeprefix(f"{folder.uri}/"))

    def __len__(self) -> int:
        return len(self._content)

    def exists(self) -> bool:
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002, FBT001, FBT002 - PyIceberg's own signature
        return io.BytesIO(self._content)

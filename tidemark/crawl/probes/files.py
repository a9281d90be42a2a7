"""A directory or an object prefix: its marker, the number of files, its manifest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyarrow.fs import FileType

from tidemark.crawl.content import content_of
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder, traits
from tidemark.crawl.measured_rows import with_rules
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import FilesProbe

_MOST_BYTES: Final = 16 * 1024 * 1024
_WILD: Final = frozenset("*?")


def look(source: FilesProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See FilesProbe."""
    source = _of_slice(source, probed)
    folder, files = _folder_and_files(source, context.secrets)
    data = _data_files(source, folder, files)
    lacking = _lacking(source, folder, files, data)
    if lacking:
        return Sight(is_there=False, why=lacking)
    why = f"{len(data)} files{f' and {source.marker}' if source.marker else ''}"
    seen = Sight(is_there=True, why=why, content=content_of(traits(folder, files)), rows=folder.rows(data))
    return with_rules(seen, folder, data, probed, context)


def slice_files(source: FilesProbe, probed: ProbedSlice, secrets: ConnectionSecrets) -> tuple[Folder, list[FileInfo]]:
    """The folder of a slice's files, and the files with rows. Raises ProbeError."""
    of_slice = _of_slice(source, probed)
    folder, files = _folder_and_files(of_slice, secrets)
    return folder, _data_files(of_slice, folder, files)


def _of_slice(source: FilesProbe, probed: ProbedSlice) -> FilesProbe:
    """The source with its texts filled in for one slice."""
    marker, manifest = (None if text is None else probed.text(text) for text in (source.marker, source.manifest))
    return replace(source, path=probed.text(source.path), marker=marker, manifest=manifest)


def _folder_and_files(source: FilesProbe, secrets: ConnectionSecrets) -> tuple[Folder, list[FileInfo]]:
    """All files of one slice. A pattern or a single file also includes marker and manifest."""
    place = secrets.place(source.path)
    parent, _, last = place.rstrip("/").rpartition("/")
    whole = Folder.at(place)
    if not _WILD.intersection(last) and whole.system.get_file_info(whole.path).type is not FileType.File:
        return whole, whole.files()
    folder = Folder.at(parent or "/")
    return folder, folder.named([last, *filter(None, (source.marker, source.manifest))])


def _data_files(source: FilesProbe, folder: Folder, files: list[FileInfo]) -> list[FileInfo]:
    """The files with rows, out of all files of a slice's folder."""
    special = {source.marker, source.manifest}
    return [info for info in folder.data(files) if folder.relative(info) not in special]


def _lacking(source: FilesProbe, folder: Folder, files: list[FileInfo], data: list[FileInfo]) -> str:
    """A text of what is missing; empty if nothing is."""
    names = {folder.relative(info): info.size for info in files}
    if source.marker is not None and source.marker not in names:
        return f"{len(data)} files, no {source.marker}"
    if folder.is_being_written(files):
        return "the files are still being written: there is a folder _temporary"
    if len(data) < source.at_least:
        return f"{len(data)} files of at least {source.at_least} in {source.path}"
    if source.manifest is None:
        return ""
    if source.manifest not in names:
        return f"{len(data)} files, no {source.manifest}"
    listed = _listed(folder, source.manifest, names[source.manifest])
    missing = [name for name, size in listed.items() if names.get(name) is None or size not in (None, names[name])]
    return (
        f"{len(missing)} of {len(listed)} files of {source.manifest} are missing: {one_line(missing[0], 200)}"
        if missing
        else ""
    )


def _listed(folder: Folder, manifest: str, size: int) -> dict[str, int | None]:
    """The sizes of the files in a manifest, by name. Raises ProbeError."""
    if size > _MOST_BYTES:
        raise ProbeError("the manifest is too long", expected=f"at most {_MOST_BYTES} bytes", found=str(size))
    # Not decompressed: by its name it might be unpacked, to any size.
    with folder.system.open_input_stream(folder.below(manifest).path, compression=None) as stream:
        lines = bytes(stream.read(_MOST_BYTES)).decode("utf-8", errors="replace").splitlines()
    listed: dict[str, int | None] = {}
    for line in filter(None, map(str.strip, lines)):
        name, _, last = line.rpartition(" ")
        listed[name.strip() if name and last.isdecimal() else line] = int(last) if name and last.isdecimal() else None
    if not listed:
        raise ProbeError("the manifest lists no files", found=manifest)
    return listed

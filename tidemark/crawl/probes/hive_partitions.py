"""A partition in Hive folders, found by listing level after level."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from pyarrow.fs import FileType

from tidemark.crawl.content import content_of
from tidemark.crawl.folders import Folder, traits
from tidemark.crawl.measured_rows import with_rules
from tidemark.dependency_model.arrival.sighting import Sight

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import PartitionsProbe


def look(source: PartitionsProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See PartitionsProbe: the columns are in the order of the folders."""
    partition = probed.texts(source.partition)
    folder = partition_folder(Folder.at(context.secrets.place(source.path)), partition)
    if folder is None:
        return Sight(is_there=False, why=f"there is no folder {'/'.join(map('='.join, partition.items()))}")
    files = folder.files()
    data = folder.data(files)
    if not data or folder.is_being_written(files):
        return Sight(is_there=False, why=f"{len(data)} files; more may be written")
    why = f"{len(data)} files in {folder.path.rpartition('/')[2]}"
    seen = Sight(is_there=True, why=why, content=content_of(traits(folder, files)), rows=folder.rows(data))
    return with_rules(seen, folder, data, probed, context)


def partition_folder(table: Folder, partition: Mapping[str, str]) -> Folder | None:
    """The folder of a partition below its table's; None if it does not exist."""
    folder = table
    for column, value in partition.items():
        name = _folder_of(folder, column, value)
        if name is None:
            return None
        folder = folder.below(name)
    return folder


def _folder_of(folder: Folder, column: str, value: str) -> str | None:
    """The folder of a column's value, percent-encoded or not; `hour=3` equals `03`."""
    for info in folder.entries():
        name, equals, text = str(info.base_name).partition("=")
        if info.type is FileType.Directory and equals and unquote(name) == column and _is_same(unquote(text), value):
            return str(info.base_name)
    return None


def _is_same(text: str, value: str) -> bool:
    return text == value or (text.isdecimal() and value.isdecimal() and int(text) == int(value))

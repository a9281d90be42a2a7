"""The lake's tables in a backup: their positions, and their files up to these versions.

A data file never changes once a commit has it, so files can be copied while writers go on. Later commits are not in the
copy: its log ends with the version that was read first.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.backup.copied_files import total_bytes
from tidemark.backup.errors import BackupDisturbedError
from tidemark.backup.manifest import LAKE, TablePosition
from tidemark.delta.log_end import log_end, table_id
from tidemark.delta.log_folder import LOG
from tidemark.delta.missing_files import readable_versions
from tidemark.delta.table_changes import has_log
from tidemark.errors import TidemarkError
from tidemark.storage.stored_files import stored_files
from tidemark.warehouse.declarations import read_declarations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.backup.copied_files import CopiedFiles
    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation

_OF_VERSION: Final = re.compile(r"(\d{20})\.(json|crc|checkpoint(\..+)?\.(parquet|json))")
_LAST_CHECKPOINT: Final = "_last_checkpoint"
_SIDECARS: Final = "_sidecars"


def lake_tables(settings: Settings) -> dict[str, TableLocation]:
    """Each table by its path in the lake: on disk all tables, elsewhere those of declared entities.

    Tables that an earlier restore moved aside have hidden names and are left out.
    """
    lake = settings.warehouse
    if isinstance(lake, Path):
        folders = (log.parent for pattern in (f"*/{LOG}", f"*/*/{LOG}") for log in sorted(lake.glob(pattern)))
        names = {path.relative_to(lake).as_posix(): path for path in folders}
        return {name: path for name, path in names.items() if not any(part[0] == "." for part in name.split("/"))}
    entities = read_declarations(settings.declarations, settings).entities
    places = {entity.snapshot_of or name: lake / (entity.snapshot_of or name) for name, entity in entities.items()}
    return {name: path for name, path in sorted(places.items()) if has_log(path)}


def position_of(path: TableLocation) -> TablePosition:
    """The current position of a table. If its log cannot be read, `trouble` has the error."""
    end = log_end(path)
    try:
        return TablePosition(version=end.version, sha256=end.sha256, table_id=table_id(path, end.version))
    except TidemarkError as error:
        return TablePosition(version=end.version, sha256=end.sha256, table_id="", trouble=str(error))


def table_bytes(path: Path) -> int:
    """The bytes of a table on disk, with its log."""
    return total_bytes(file for file in path.rglob("*") if file.is_file())


def copy_table(path: Path, name: str, position: TablePosition, copied: CopiedFiles) -> None:
    """Copy the log up to the position, and the existing files. Raises BackupDisturbedError.

    Files of earlier versions are copied as far as they exist, because tags may name these versions.
    """
    for file in _log_files(path, position.version):
        copied.copy(path / file, f"{LAKE}/{name}/{file}")
    for file in stored_files(path).names():
        try:
            copied.copy(path / file, f"{LAKE}/{name}/{file}")
        except FileNotFoundError:  # a VACUUM may delete unneeded files; needed ones are checked below
            continue
    _require_whole(copied.folder / LAKE / name, name, position)


def _require_whole(copy: Path, name: str, position: TablePosition) -> None:
    if position.trouble:
        return
    lacking = readable_versions(copy).why_not(position.version)
    if lacking:
        raise BackupDisturbedError.of(name, lacking)


def _log_files(path: Path, version: int) -> Iterator[str]:
    for name in stored_files(path).names_in(LOG):
        file = name.removeprefix(f"{LOG}/")
        match = _OF_VERSION.fullmatch(file)
        is_before = match is not None and int(match[1]) <= version
        if is_before or (file == _LAST_CHECKPOINT and _names_version(path / name) <= version):
            yield name
    yield from stored_files(path).names_in(f"{LOG}/{_SIDECARS}")


def _names_version(file: Path) -> float:
    """The version in `_last_checkpoint`, or infinity if it is unreadable. The file is a hint and may be left out."""
    try:
        return int(json.loads(file.read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return float("inf")

"""The manifest of a backup in JSON, and its SHA-256 in the form of sha256sum."""

from __future__ import annotations

import hashlib
import stat
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal, Self

from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidemark.backup.errors import BackupUnusableError
from tidemark.state_store.migrations import migrations
from tidemark.strict_json import json_text

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
MANIFEST_SUM: Final = "manifest.sha256"
STATE, DAGSTER, LAKE, PROJECT = "state", "dagster", "lake", "project"
"""The folders of a backup."""
_FOLDERS: Final = frozenset({STATE, DAGSTER, LAKE, PROJECT})
Storage = Literal["none", "sqlite", "postgresql"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BackupFile(_Frozen):
    """A file of a backup. `changed_ns` is the original's time of change, which VACUUM and time travel use."""

    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=0)]
    changed_ns: int = 0


class TablePosition(_Frozen):
    """A table's last commit: its number, the SHA-256 of its content, and Delta's id of the table.

    `trouble` is the reason why its log cannot be read.
    """

    version: int
    sha256: str
    table_id: str
    trouble: str = ""


class BackupManifest(_Frozen):
    """`step` is the state store's last migration; `files` are by relative path; `left_out` has reasons."""

    format: int
    made_by: Literal["tidemark"]
    program: str
    made_at: str
    step: int
    state_store: Storage
    dagster: Storage
    lake: str
    with_lake: bool
    tables: dict[str, TablePosition]
    files: dict[str, BackupFile]
    left_out: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest of a backup. Raises BackupUnusableError: not a backup, a changed manifest, a later version."""
        try:
            content = (folder / MANIFEST).read_bytes()
            told = (folder / MANIFEST_SUM).read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise BackupUnusableError.foreign(folder, str(error)) from error
        if told != [hashlib.sha256(content).hexdigest(), MANIFEST]:
            raise BackupUnusableError.changed(folder, [f"the SHA-256 of {MANIFEST} differs from {MANIFEST_SUM}"])
        _refuse_later_format(folder, content)
        try:
            manifest = cls.model_validate_json(content)
        except ValidationError as error:
            raise BackupUnusableError.foreign(folder, str(error.errors()[0])) from error
        manifest.refuse_later(folder)
        return manifest

    def write(self, folder: Path) -> None:
        """Write the manifest and its checksum."""
        text = json_text(self.model_dump(mode="json"), sort_keys=True)
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        digest = hashlib.sha256(text.encode()).hexdigest()
        (folder / MANIFEST_SUM).write_text(f"{digest}  {MANIFEST}\n", encoding="utf-8")

    def verify(self, folder: Path) -> None:
        """Read and check each file. Raises BackupUnusableError, which lists missing and changed files."""
        if odd := [name for name in self.files if not _is_inside(name)]:
            raise BackupUnusableError.foreign(folder, f"a file named {odd[0]!r}")
        if differences := [
            said for name, file in sorted(self.files.items()) if (said := _difference(folder, name, file))
        ]:
            raise BackupUnusableError.changed(folder, differences)

    def in_folder(self, name: str) -> dict[str, BackupFile]:
        """The files of one folder of the backup, by path relative to it."""
        head = f"{name}/"
        return {path.removeprefix(head): file for path, file in self.files.items() if path.startswith(head)}

    @property
    def size_bytes(self) -> int:
        """The bytes of all files."""
        return sum(file.size_bytes for file in self.files.values())

    def refuse_later(self, folder: Path) -> None:
        """Raise BackupUnusableError if a later version of the program made it."""
        ours, step = program_version(), migrations()[-1].number
        if self.step > step:
            raise BackupUnusableError.later(folder, f"a state store of step {step} or before", f"step {self.step}")
        try:
            is_later = Version(self.program) > Version(ours)
        except InvalidVersion as error:
            raise BackupUnusableError.foreign(folder, f"version {self.program!r} of the program") from error
        if is_later:
            raise BackupUnusableError.later(folder, f"version {ours} or before", f"version {self.program}")


class _Head(BaseModel):
    """The fields of every format."""

    format: int
    made_by: Literal["tidemark"]


def program_version() -> str:
    """The version of the installed program."""
    return version("tidemark")


def _refuse_later_format(folder: Path, content: bytes) -> None:
    try:
        head = _Head.model_validate_json(content)
    except ValidationError as error:
        raise BackupUnusableError.foreign(folder, f"a {MANIFEST} of another program") from error
    if head.format > FORMAT:
        raise BackupUnusableError.later(folder, f"format {FORMAT}", f"format {head.format}")


def _is_inside(name: str) -> bool:
    """Whether a name of the manifest stays inside a folder of the backup."""
    path = PurePosixPath(name)
    parts = name.split("/")
    return not path.is_absolute() and len(parts) > 1 and parts[0] in _FOLDERS and not {"", ".", ".."} & set(parts)


def _difference(folder: Path, name: str, file: BackupFile) -> str:
    path = folder / name
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or not path.resolve().is_relative_to(folder.resolve()):
            return f"{name} is not a file of the backup"
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        return f"{name}: {error.strerror or error}"
    if path.stat().st_size != file.size_bytes:
        return f"{name} has {path.stat().st_size:,} bytes, not {file.size_bytes:,}"
    return "" if digest == file.sha256 else f"{name} has other content"

"""The files that people wrote in a project, without secrets and without data."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.backup.manifest import MANIFEST_SUM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.system.settings import Settings

_MOST_BYTES: Final = 1 << 20
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "build", "dist"})
_SECRET_NAME: Final = re.compile(r"(?i)(secret|password|passwd|credential|token)|\.(pem|key|p12|pfx|jks|keystore)$")
_PASSWORD: Final = re.compile(
    rb"(?i)://[^/@\s:]*:[^/@\s]+@|\b\w*(password|passwd|secret|token)\w*['\"]?\s*[:=]\s*['\"]?[^\s'\"{}$<*]{4}"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_SOURCE: Final = frozenset({".py", ".sql", ".md"})
"""In these files the words are names of variables, so only a URL with a password is a secret."""
_URL: Final = re.compile(rb"(?i)://[^/@\s:{]*:[^/@\s{}$<*]+@")


def project_files(settings: Settings, home: Path) -> tuple[list[str], dict[str, str]]:
    """The files to keep by relative path, and the files that are left out with the reason."""
    kept, left_out = list[str](), dict[str, str]()
    for path in _walk(settings.root, {settings.data.resolve(), home.resolve(), _on_disk(settings)}):
        name = path.relative_to(settings.root).as_posix()
        if why := why_left_out(path):
            left_out[name] = why
        else:
            kept.append(name)
    return kept, left_out


def why_left_out(path: Path) -> str:
    """Why a file is left out of a backup; empty if it is kept."""
    if path.is_symlink():
        return "a symbolic link"
    if _SECRET_NAME.search(path.name) and path.suffix not in _SOURCE:
        return "its name suggests a secret"
    if path.stat().st_size > _MOST_BYTES:
        return f"larger than {_MOST_BYTES:,} bytes"
    secret = _URL if path.suffix in _SOURCE else _PASSWORD
    return "it contains a password" if secret.search(path.read_bytes()) else ""


def _on_disk(settings: Settings) -> Path:
    return settings.warehouse.resolve() if isinstance(settings.warehouse, Path) else settings.data.resolve()


def _walk(root: Path, without: set[Path]) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not _is_skipped(here / name, without))
        yield from (here / name for name in sorted(files) if not name.startswith(".") and (here / name).is_file())


def _is_skipped(folder: Path, without: set[Path]) -> bool:
    """Whether a folder is left out: data, generated files, hidden folders and backups."""
    if folder.name.startswith(".") or folder.name in _SKIPPED or folder.is_symlink():
        return True
    return folder.resolve() in without or (folder / "pyvenv.cfg").exists() or (folder / MANIFEST_SUM).exists()

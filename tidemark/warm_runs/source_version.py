"""Detects changes on disk of the code that workers have loaded."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PLANS: Final = "plans-*.json"
_SUFFIXES: Final = (".py", ".sql", ".yaml")


def source_folders(packages: Iterable[str]) -> tuple[Path, ...]:
    """The folders of importable top-level packages."""
    names = {name.partition(".")[0] for name in packages}
    specs = (find_spec(name) for name in sorted(names))
    return tuple(Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ())


def source_version(folders: Iterable[Path], plans: Path | None = None) -> frozenset[tuple[str, int]]:
    """Each source below the folders with its time of change; takes some milliseconds for a thousand files.

    `plans` has what `tidemark check` has found about Python functions. Definitions loaded before that do not know which
    slices a function reads.
    """
    times = {(entry.path, entry.stat().st_mtime_ns) for folder in folders for entry in _sources(folder)}
    told = plans.glob(_PLANS) if plans is not None else ()
    times |= {(str(path), path.stat().st_mtime_ns) for path in told if path.exists()}
    return frozenset(times)


def _sources(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith((".", "__")) and entry.is_dir():
                continue
            if entry.is_dir():
                yield from _sources(entry.path)
            elif entry.name.endswith(_SUFFIXES):
                yield entry

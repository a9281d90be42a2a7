"""Files and folders that are written beside their final places, and moved there once all are complete."""

from __future__ import annotations

import shutil
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.backup.copied_files import publish, sync_folders
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


@dataclass
class StagedPlaces:
    """`root` is a new folder that is moved as a whole with everything below it; None if there is none.

    Existing files at a place are moved aside; `moved` has their old and new names.
    """

    root: Path | None
    now: datetime
    moved: list[tuple[Path, Path]] = field(default_factory=list)
    _mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _staged: dict[Path, Path] = field(default_factory=dict)

    def place_for(self, final: Path) -> Path:
        """The path to write what will be at `final`. Places are moved in the order of the first calls."""
        staged = self._below_root(final)
        if staged is None:
            staged = self._staged.setdefault(final, _beside(final, f"restoring-{self._mark}"))
        private_directory(staged.parent)
        return staged

    def publish(self) -> None:
        """Move everything to its final place."""
        for final, staged in self._places():
            self.move_aside(final)
            if staged.is_dir():
                sync_folders(staged)
            publish(staged, final)

    def move_aside(self, path: Path) -> None:
        """Move an existing file or folder aside under another name. An empty folder is removed."""
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        if path.exists():
            aside = _beside(path, f"before-restore-{self.now:%Y%m%dT%H%M%S}")
            path.rename(aside)
            self.moved.append((path, aside))

    def discard(self) -> None:
        """Remove everything that was not moved to its place."""
        for _, staged in self._places():
            if staged.is_dir():
                shutil.rmtree(staged, ignore_errors=True)
            else:
                staged.unlink(missing_ok=True)

    def _places(self) -> list[tuple[Path, Path]]:
        whole = [] if self.root is None else [(self.root, self._staged_root(self.root))]
        return [(final, staged) for final, staged in (*whole, *self._staged.items())]

    def _staged_root(self, root: Path) -> Path:
        return _beside(root, f"restoring-{self._mark}")

    def _below_root(self, final: Path) -> Path | None:
        if self.root is None or not final.is_relative_to(self.root):
            return None
        return self._staged_root(self.root) / final.relative_to(self.root)


def _beside(path: Path, what: str) -> Path:
    """A hidden name beside a path, which no table, run or store has."""
    return path.with_name(f".{path.name}.{what}")

"""A journal of the runs that the host has taken and not ended: one file for each, read after a killed host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_RUN_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")


class Journal:
    """The runs of one host, in a folder. `ended` is called with each removed run."""

    def __init__(self, folder: Path, ended: Callable[[str], None] = lambda _: None) -> None:
        self._folder, self._ended = folder / "runs", ended

    def add(self, run_id: str) -> None:
        """Add a run that the host has taken. Ids are file names: Dagster's are UUIDs."""
        private_directory(self._folder)
        self._file(run_id).touch()

    def remove(self, run_id: str) -> None:
        """Remove a run whose end Dagster knows."""
        self._file(run_id).unlink(missing_ok=True)
        self._ended(run_id)

    def holds(self, run_id: str) -> bool:
        """Whether the host, alive or not, has taken the run and not ended it."""
        return self._file(run_id).exists()

    def runs(self) -> list[str]:
        """The runs that were added and not removed."""
        return sorted(file.name for file in self._folder.iterdir()) if self._folder.exists() else []

    def _file(self, run_id: str) -> Path:
        if not _RUN_ID.fullmatch(run_id):
            raise ValueError(f"{run_id[:80]!r} is not the id of a run")
        return self._folder / run_id

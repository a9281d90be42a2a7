"""Runs that the host has taken and that have not ended: a file each, for whoever comes after a killed host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from pathlib import Path


class Journal:
    """The runs of one host, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "runs"

    def add(self, run_id: str) -> None:
        """The host has taken the run. Ids are file names: Dagster's are UUIDs."""
        private_directory(self._folder)
        (self._folder / run_id).touch()

    def remove(self, run_id: str) -> None:
        """The run has ended, and Dagster knows it."""
        (self._folder / run_id).unlink(missing_ok=True)

    def holds(self, run_id: str) -> bool:
        """Whether the host took the run and did not end it yet, whether it lives or not."""
        return (self._folder / run_id).exists()

    def runs(self) -> list[str]:
        """What was taken and not removed."""
        return sorted(file.name for file in self._folder.iterdir()) if self._folder.exists() else []

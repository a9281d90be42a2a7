"""Errors of the command line itself.

TerminalError
├── NothingComputedError   a question about slices of a project that has none yet
└── ProjectFolderError     a new project would be written over something
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from pathlib import Path


class NothingComputedError(TerminalError):
    """A question about slices of a project that has none yet."""


class ProjectFolderError(TerminalError):
    """A new project would be written over something."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        return cls(
            "a new project is written into a new or an empty folder",
            found="a folder that holds files" if folder.is_dir() else "a file",
            where=str(folder),
            hint="choose another name; nothing was written",
        )

"""Errors of the command line itself.

TerminalError
├── NoProfileError         a slice, or a part of it, has no profile
├── NothingComputedError   a question about slices of a project that has none yet
└── ProjectFolderError     a new project would be written over something
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tidemark.dependency_model.slice import Slice

_SHOWN = 5


class NoProfileError(TerminalError):
    """A slice, or a part of it, has no profile."""

    @classmethod
    def of(cls, slice_: Slice, missing: Sequence[Slice]) -> Self:
        """`missing` are the slices without a profile that the merge needs, or the slice itself."""
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        return cls(
            "this slice has no profile",
            found=f"missing: {', '.join(map(str, missing[:_SHOWN]))}{more}" if missing else None,
            where=str(slice_),
            hint="a run measures the slice unless its declaration has 'profile: off'; profiles of parts can be merged",
        )


class NothingComputedError(TerminalError):
    """A question about slices of a project that has none yet."""


class ProjectFolderError(TerminalError):
    """A new project would be written over something."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        return cls(
            "a new project needs a new or empty folder",
            found="a folder with files" if folder.is_dir() else "a file",
            where=str(folder),
            hint="choose another name; nothing was written",
        )

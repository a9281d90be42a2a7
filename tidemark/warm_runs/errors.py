"""Errors of warm workers (tree in tidemark.system.errors)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from pathlib import Path


class WorkersDownError(TransientError):
    """No host of warm workers takes a run now."""

    @classmethod
    def of(cls, folder: Path, found: str) -> Self:
        return cls(
            "no host of warm workers takes a run now",
            expected="a running host",
            found=found,
            where=str(folder),
            hint="`tidemark up` and `tidemark center` start one",
        )


class NotSharedError(TerminalError):
    """Settings for workers of several hosts that only this host can use."""

    @classmethod
    def of(cls, what: str, found: str, where: str, hint: str) -> Self:
        return cls(
            f"other hosts cannot share {what}", expected="a PostgreSQL server", found=found, where=where, hint=hint
        )

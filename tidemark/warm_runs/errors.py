"""Errors of warm workers (tree in tidemark.system.errors)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TransientError

if TYPE_CHECKING:
    from pathlib import Path


class WorkersDownError(TransientError):
    """No host of warm workers takes a run now."""

    @classmethod
    def of(cls, folder: Path, found: str) -> Self:
        return cls(
            "no host of warm workers takes a run now",
            expected="a host that listens",
            found=found,
            where=str(folder),
            hint="`tidemark up` and `tidemark center` start one",
        )

"""Processes of a figure: one that has ended by itself ends the figure, with its last words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

_LAST_LINES: Final = 20


class ChildEndedError(Exception):
    """A process that a figure needs has ended."""


@dataclass(frozen=True)
class Child:
    """A process with its log."""

    process: subprocess.Popen[bytes]
    log: Path

    def require(self) -> None:
        """Raise ChildEndedError, with the exit code and the last lines of the log, where it has ended."""
        code = self.process.poll()
        if code is not None:
            raise ChildEndedError(f"a process of the figure ended with {code}: {self.log.name}\n{last_lines(self.log)}")


def last_lines(log: Path) -> str:
    """What a log ends with."""
    text = log.read_text("utf-8", errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-_LAST_LINES:])

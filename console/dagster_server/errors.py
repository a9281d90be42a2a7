"""What goes wrong between us and Dagster's processes.

TerminalError
`-- DagsterStartError   it ended by itself, or was not ready in time
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dependency_model.errors import TerminalError

if TYPE_CHECKING:
    from pathlib import Path


class DagsterStartError(TerminalError):
    """Dagster ended by itself, or was not ready in time."""

    def __init__(self, what: str, log: Path, last_lines: str) -> None:
        super().__init__(
            f"Dagster {what}",
            expected="the UI to answer",
            found=f"its log ends with:\n{last_lines}",
            where=str(log),
            hint="see the log; `tidemark doctor` looks at this machine, `tidemark check` at the declarations",
        )

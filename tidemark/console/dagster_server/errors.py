"""Errors of Dagster's processes.

TerminalError
|-- DagsterStartError   it ended by itself, or was not ready in time
|-- HomeUnreadableError its dagster.yaml cannot be read
`-- ForeignHomeError    its storage tells of other data
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError

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
            hint="see the log; `tidemark doctor` checks this machine, `tidemark check` the declarations",
        )


class HomeUnreadableError(TerminalError):
    """Dagster's configuration cannot be read."""

    @classmethod
    def of(cls, configuration: Path, found: str) -> Self:
        return cls(
            "Dagster's configuration cannot be read",
            expected="a dagster.yaml that Dagster accepts",
            found=found,
            where=str(configuration),
            hint="correct the file; `tidemark init` writes one that works",
        )


class ForeignHomeError(TerminalError):
    """Dagster's storage belongs to another data folder."""

    @classmethod
    def of(cls, data: Path, home: Path) -> Self:
        return cls(
            "Dagster's storage belongs to another data folder",
            expected=f"the data that its events describe, in {data}",
            found="new data, or data in another folder",
            where=str(home),
            hint="restore the data, set TIDEMARK_DATA to its folder, or start with an empty DAGSTER_HOME "
            "(`make clean` empties both)",
        )

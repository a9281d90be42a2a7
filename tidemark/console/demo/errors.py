"""Errors of the demo.

TerminalError
|-- SampleError       the recording or the oracle in sample/ is missing or broken
`-- PartnerError      the program that writes the external table has ended by itself
TransientError
`-- DemoRunningError  another demo works on the same data
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from pathlib import Path


class SampleError(TerminalError):
    """The recording or the oracle in sample/ is missing or broken."""


class PartnerError(TerminalError):
    """The program that writes the external table has ended by itself."""

    @classmethod
    def of(cls, code: int | None) -> Self:
        return cls(
            "the partner's program does not answer",
            expected="one line for each input line",
            found="nothing" if code is None else f"its end with {code}",
            hint="see its output above",
        )


class DemoRunningError(TransientError):
    """Another demo uses the same data."""

    @classmethod
    def of(cls, data: Path) -> Self:
        return cls(
            "another demo is using this data folder",
            where=str(data),
            hint="wait until it ends, or use another folder with TIDEMARK_DATA",
        )

"""Errors of the demo.

TerminalError
`-- SampleError       the recording or the oracle in sample/ is missing or broken
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


class DemoRunningError(TransientError):
    """Another demo works on the same data."""

    @classmethod
    def of(cls, data: Path) -> Self:
        return cls(
            "a demo is running on this data already",
            where=str(data),
            hint="wait until it is over, or give this one its own folder with TIDEMARK_DATA",
        )

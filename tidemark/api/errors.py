"""Errors of the HTTP interface.

TerminalError
└── ApiSettingsError   an address that the API must not listen on without a token, or a setting that cannot be so

TransientError
├── TookTooLongError   an answer that was not there in time
└── BusyError          more questions than are answered at a time
"""

from typing import Self

from tidemark.errors import TerminalError, TransientError


class ApiSettingsError(TerminalError):
    """An address that the API must not listen on without a token, or a setting that cannot be so."""


class TookTooLongError(TransientError):
    """An answer that was not there in time."""


class BusyError(TransientError):
    """More questions than are answered at a time."""

    @classmethod
    def of(cls, kind: str, asked: int) -> Self:
        return cls(f"too many {kind} wait already", found=f"{asked:,}", hint="ask again in a second")

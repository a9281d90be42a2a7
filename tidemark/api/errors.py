"""Errors of the HTTP interface.

TerminalError
└── ApiSettingsError   an address that the API must not listen on without a token, or a setting that cannot be so

TransientError
├── TookTooLongError   an answer that was not there in time
├── BudgetSpentError   a caller whose plans took all the processor time that they may
├── CallerGoneError    an answer that nobody waits for any more
└── BusyError          more questions than are answered at a time
"""

from math import ceil
from typing import Self

from tidemark.errors import TerminalError, TransientError


class ApiSettingsError(TerminalError):
    """An address that the API must not listen on without a token, or a setting that cannot be so."""


class TookTooLongError(TransientError):
    """An answer that was not there in time."""


class BudgetSpentError(TransientError):
    """A caller whose plans took all the processor time that they may."""

    @classmethod
    def of(cls, seconds: float) -> Self:
        return cls(
            "the plans of this caller took all the processor time that they may",
            expected="plans that take 5 s at once, and 5 % of the time",
            hint=f"ask again in {max(1, ceil(seconds))} s, or call `tidemark backfill`, which has no such limit",
        )


class CallerGoneError(TransientError):
    """An answer that nobody waits for any more."""


class BusyError(TransientError):
    """More questions than are answered at a time."""

    @classmethod
    def of(cls, kind: str, asked: int) -> Self:
        return cls(f"too many {kind} wait already", found=f"{asked:,}", hint="ask again in a second")

"""Errors of the HTTP interface.

TerminalError
└── ApiSettingsError   an address that the API must not listen on without a token, or an invalid setting

TransientError
├── TookTooLongError   an answer that was not ready in time
├── BudgetSpentError   a caller whose plans used up their processor time
├── ReportQuotaError   a caller or a slice with too many reports
├── CallerGoneError    the caller has hung up before the answer
└── BusyError          too many requests are waiting
"""

from math import ceil
from typing import Self

from tidemark.errors import TerminalError, TransientError


class ApiSettingsError(TerminalError):
    """An address that the API must not listen on without a token, or an invalid setting."""


class TookTooLongError(TransientError):
    """An answer that was not ready in time."""


class BudgetSpentError(TransientError):
    """A caller whose plans used up their processor time."""

    @classmethod
    def of(cls, seconds: float) -> Self:
        return cls(
            "the plans of this caller used up their processor time",
            expected="at most 5 s of processor time at once, and 5 % on average",
            hint=f"ask again in {max(1, ceil(seconds))} s, or call `tidemark backfill`, which has no such limit",
        )


class ReportQuotaError(TransientError):
    """A caller or a slice with too many reports."""

    @classmethod
    def of(cls, whose: str, expected: str) -> Self:
        return cls("too many reports", expected=expected, where=whose, hint="report again later; nothing was stored")


class CallerGoneError(TransientError):
    """The caller has hung up before the answer."""


class BusyError(TransientError):
    """Too many requests are waiting."""

    @classmethod
    def of(cls, kind: str, asked: int) -> Self:
        return cls(f"too many {kind} are waiting", found=f"{asked:,}", hint="ask again in a second")

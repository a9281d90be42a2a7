"""Errors of the HTTP interface.

TerminalError
└── ApiSettingsError   an address that the API must not listen on without a token, or a setting that cannot be so

TransientError
└── TookTooLongError   an answer that was not there in time
"""

from tidemark.errors import TerminalError, TransientError


class ApiSettingsError(TerminalError):
    """An address that the API must not listen on without a token, or a setting that cannot be so."""


class TookTooLongError(TransientError):
    """An answer that was not there in time."""

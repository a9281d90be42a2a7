"""Errors of probes. No text here contains a value of an environment variable.

TransientError
`-- ProbeError            a source did not answer, or its answer is unreadable: it is asked again, later
TerminalError
|-- ProbeSettingError     a variable or an entry point of a probe does not exist
`-- CountReportError      a line is not a count of records
"""

from __future__ import annotations

import re
from typing import Final, Self

from tidemark.errors import TerminalError, TransientError

_QUOTING: Final = re.compile(r": |, got |\bgot \d|'")
"""After it, a message quotes values or lines."""
_ROW: Final = re.compile(r"Row #\d+")


class ProbeError(TransientError):
    """A source did not answer, or its answer is unreadable."""

    @classmethod
    def of_rows(cls, error: Exception, path: str = "") -> Self:
        """An error for rows in files.

        A reader may quote their values, so only its type and the row's number are used.
        """
        text = str(error)
        row = _ROW.search(text)
        first = _QUOTING.split((text.splitlines() or [""])[0])[0]
        told = f"{type(error).__name__}: {first}"[:300]
        told = f"{told}, {row[0].lower()}" if row else told
        return cls("the rows could not be read for the rules", found=told, where=path.rpartition("/")[2] or None)


class ProbeSettingError(TerminalError):
    """A variable or an entry point of a probe does not exist."""


class CountReportError(TerminalError):
    """A line is not a count of records."""

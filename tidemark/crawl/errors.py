"""What goes wrong with probes; no text here holds a value of an environment variable.

TransientError
`-- ProbeError            a source did not answer, or answered what nobody can read: it is asked again, later
TerminalError
|-- ProbeSettingError     a variable or an entry point that a probe names is not there
`-- CountReportError      a line that is no count of records
"""

from __future__ import annotations

import re
from typing import Final, Self

from tidemark.errors import TerminalError, TransientError

_QUOTING: Final = re.compile(r": |, got |\bgot \d|'")
"""Behind it a message quotes values or lines."""
_ROW: Final = re.compile(r"Row #\d+")


class ProbeError(TransientError):
    """A source did not answer, or answered what nobody can read."""

    @classmethod
    def of_rows(cls, error: Exception, path: str = "") -> Self:
        """Of rows that lie in files. A reader may quote what it read: only its kind and the row's number are told."""
        text = str(error)
        row = _ROW.search(text)
        first = _QUOTING.split((text.splitlines() or [""])[0])[0]
        told = f"{type(error).__name__}: {first}"[:300]
        told = f"{told}, {row[0].lower()}" if row else told
        return cls("the rows could not be read for the rules", found=told, where=path.rpartition("/")[2] or None)


class ProbeSettingError(TerminalError):
    """A variable or an entry point that a probe names is not there."""


class CountReportError(TerminalError):
    """A line that is no count of records."""

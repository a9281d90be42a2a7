"""What goes wrong with probes; no text here holds a value of an environment variable.

TransientError
`-- ProbeError            a source did not answer, or answered what nobody can read: it is asked again, later
TerminalError
|-- ProbeSettingError     a variable or an entry point that a probe names is not there
`-- CountReportError      a line that is no count of records
"""

from __future__ import annotations

from tidemark.errors import TerminalError, TransientError


class ProbeError(TransientError):
    """A source did not answer, or answered what nobody can read."""


class ProbeSettingError(TerminalError):
    """A variable or an entry point that a probe names is not there."""


class CountReportError(TerminalError):
    """A line that is no count of records."""

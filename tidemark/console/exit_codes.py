"""Exit codes of `tidemark`."""

from enum import IntEnum


class ExitCode(IntEnum):
    """2 is click's own for a wrong call, 75 is EX_TEMPFAIL of sysexits; only `plan` uses 3."""

    OK = 0
    FAILED = 1
    USAGE = 2
    OUTDATED = 3
    TRY_AGAIN = 75
    INTERRUPTED = 130

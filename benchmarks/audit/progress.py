"""How far a cycle of the audit is, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidemark.capture.audit.cycle_run import CycleReport

_EVERY_SECONDS: Final = 15.0


class Progress:
    """A line every few seconds: rows that the source was asked for, of `rows`."""

    def __init__(self, rows: int) -> None:
        self._rows, self._begun, self._told = rows, time.monotonic(), 0.0

    def __call__(self, report: CycleReport) -> None:
        now = time.monotonic()
        if now < self._told + _EVERY_SECONDS:
            return
        self._told = now
        print(
            f"{now - self._begun:7.0f} s  {report.rows:,} of {self._rows:,} rows, {report.looks:,} looks, "
            f"{len(report.found):,} findings",
            file=sys.stderr,
            flush=True,
        )

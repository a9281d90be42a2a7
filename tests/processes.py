"""What tests see of processes that may end while they look."""

from __future__ import annotations

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """The words of a process's command line; none of one that ended, or is not ours to look at."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []

"""What tests see of processes that may end while they look."""

from __future__ import annotations

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """The words of a process's command line; none of one that is gone, or ended and not waited for yet."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []

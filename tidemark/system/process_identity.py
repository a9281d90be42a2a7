"""A process as another one knows it again: the number of a process alone is given to a later one, too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

import psutil

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE: Final = Path("/proc/self/ns/pid")
_PROCESSES: Final = Path("/proc")
_START_TICKS: Final = 19
"""Which of the words behind the name in `/proc/PID/stat` says when a process started (proc(5), `starttime`)."""


@dataclass(frozen=True)
class ProcessIdentity:
    """`machine` is the machine since it booted, and the namespace in which `pid` counts; `started` tells it apart.

    `started` does not follow the machine's clock where there is `/proc`.
    """

    machine: str
    pid: int
    started: str

    @classmethod
    def of_this_process(cls) -> Self:
        """Of who asks; another one after a fork."""
        return cls(_machine(), os.getpid(), _start_of(os.getpid()) or "")

    @classmethod
    def parse(cls, text: str) -> Self:
        """What `str` gave. Raises ValueError."""
        machine, pid, started = text.split(" ")
        return cls(machine, int(pid), started)

    def __str__(self) -> str:
        return f"{self.machine} {self.pid} {self.started}"

    def is_gone(self) -> bool:
        """Whether it has ended for certain: of another machine, or another namespace, nobody here knows."""
        return self.machine == _machine() and _start_of(self.pid) != self.started


def _start_of(pid: int) -> str | None:
    """When the process started; None where there is none, or only what is left of one."""
    if _PROCESSES.is_dir():
        try:
            words = (
                (_PROCESSES / str(pid) / "stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
                .split()
            )
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if words[0] in "ZX" else words[_START_TICKS]
    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.NoSuchProcess:
        return None


@lru_cache(maxsize=1)
def _machine() -> str:
    boot = _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else f"{psutil.boot_time():.0f}"
    try:
        namespace = str(_NAMESPACE.readlink())
    except OSError:
        namespace = ""
    return f"{boot}/{namespace}"

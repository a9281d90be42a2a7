"""The lasting identity of a process. A process number alone is used again for later processes."""

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
"""The index of the start time among the words after the name in `/proc/PID/stat` (proc(5), `starttime`)."""


@dataclass(frozen=True)
class ProcessIdentity:
    """`machine` is the machine since its boot, and the namespace of `pid`; `started` identifies the process.

    With `/proc`, `started` does not depend on the machine's clock.
    """

    machine: str
    pid: int
    started: str

    @classmethod
    def of_this_process(cls) -> Self:
        """The identity of this process; another one after a fork."""
        return cls(_machine(), os.getpid(), _start_of(os.getpid()) or "")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The identity of a text from `str`. Raises ValueError."""
        machine, pid, started = text.split(" ")
        return cls(machine, int(pid), started)

    def __str__(self) -> str:
        return f"{self.machine} {self.pid} {self.started}"

    def is_gone(self) -> bool:
        """Whether it has certainly ended.

        False for processes of other machines or namespaces, which are unknown here.
        """
        return self.machine == _machine() and _start_of(self.pid) != self.started


def _start_of(pid: int) -> str | None:
    """When the process started; None if there is none, or only a zombie."""
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

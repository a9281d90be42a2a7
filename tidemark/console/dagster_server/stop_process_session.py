"""Stops a program with all its child processes, by process id.

Dagster's services have child processes: a web server, a daemon, a code server, and runs with JVMs. SIGINT stops them in
order. Processes that remain after a grace period get SIGTERM, then SIGKILL.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

_POLL_SECONDS: Final = 0.1
_STEPS: Final = ((signal.SIGINT, 5.0), (signal.SIGTERM, 3.0), (signal.SIGKILL, 5.0))


def stop_session(leader: subprocess.Popen[bytes], in_a_hurry: Callable[[], bool] = lambda: False) -> None:
    """End the leader of a session (Popen with start_new_session=True) and every process of that session.

    It takes at most 13 s. When `in_a_hurry()` becomes true, remaining processes are killed at once.
    """
    for signum, grace_seconds in _STEPS:
        # SIGINT goes only to the leader, which forwards it to its children.
        _signal([leader.pid] if signum == signal.SIGINT else session_members(leader.pid), signum)
        deadline = time.monotonic() + grace_seconds
        while time.monotonic() < deadline and not (in_a_hurry() and signum != signal.SIGKILL):
            if leader.poll() is not None and not session_members(leader.pid):
                return
            time.sleep(_POLL_SECONDS)


def session_members(session: int) -> list[int]:
    """Process ids of the session, orphans included."""
    return [pid for pid in psutil.pids() if _session_of(pid) == session and _alive(pid)]


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _signal(pids: list[int], signum: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, signum)
        except ProcessLookupError:
            continue

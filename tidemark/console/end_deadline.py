"""Ends a process after a stop signal, even if its main thread is blocked."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from tidemark.console.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def end_within(seconds: float, why: str) -> Iterator[None]:
    """End the process at most `seconds` after a signal, with `why` on standard error and the exit code to try again.

    Python's own signal handlers run between two steps of the interpreter, and never while C code waits for an answer.
    The interpreter's lowest handler writes each signal to a socket at once, and a thread reads it. Use it for processes
    that may be killed at any time without harm.
    """
    reader, writer = socket.socketpair()
    writer.settimeout(0)
    ended = Event()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    Thread(target=_wait, args=(reader, ended, seconds, why), name="end-deadline", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        writer.close()


def _wait(reader: socket.socket, ended: Event, seconds: float, why: str) -> None:
    with reader:
        # A signal, or the end of the work without one.
        reader.recv(1)
    if not ended.wait(seconds):
        sys.stderr.write(why + "\n")
        sys.stderr.flush()
        os._exit(ExitCode.TRY_AGAIN)

"""Ends a process after a stop signal, even if its main thread is blocked."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from tidemark.console.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator


END_SECONDS: Final = 8.0
ENDED: Final = (
    f"Stopped: the work did not end within {END_SECONDS:.0f} s. The next process continues where the last commit ended."
)


@contextmanager
def end_within(seconds: float = END_SECONDS, why: str = ENDED) -> Iterator[None]:
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

"""Requests to the host of warm workers: one line of JSON each way, over a Unix socket that only its user can open.

    {"do": "run", "run": id}     {"taken": bool}             a run that was taken before: True again
    {..., "when": "room"}        {"taken": bool}             only if a worker begins it at once
    {"do": "stop", "run": id}    {"found": bool}
    {"do": "where", "run": id}   {"at": "waiting" | "running" | "unknown"}
    {"do": "status"}             figures of the workers

A socket's path may have about a hundred bytes, and many folders are longer. So the socket is in a temporary folder
(0700), and the file `address` in the host's folder has its path.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidemark.strict_json import json_text
from tidemark.system.files import replace_text
from tidemark.warm_runs.errors import WorkersDownError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ADDRESS: Final = "address"
_PREFIX: Final = "tidemark-workers-"
_SOCKET: Final = "s"
_SECONDS: Final = 10.0
MOST_BYTES: Final = 65_536


def ask(folder: Path, question: Mapping[str, Any], seconds: float = _SECONDS) -> dict[str, Any]:
    """The host's answer. Raises WorkersDownError if no host listens, or it does not answer in time."""
    try:
        path = (folder / _ADDRESS).read_text()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds)
            connection.connect(path)
            connection.sendall(json_text(question).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline(MOST_BYTES))
                return answer
    except (OSError, ValueError) as error:
        raise WorkersDownError.of(folder, str(error) or type(error).__name__) from error


class HostAddress:
    """A listening socket that other processes find by `folder`; `serve` is called with each new socket.

    Other programs clean temporary folders: `look` opens a new socket if the old one is gone.
    """

    def __init__(self, folder: Path, serve: Callable[[socket.socket], None]) -> None:
        self._folder, self._serve = folder, serve
        self._listener, self._own = self._open()

    def look(self) -> None:
        """Replace a missing socket. Call it regularly."""
        if not (self._own / _SOCKET).exists():
            self._stop_listening()
            self._listener, self._own = self._open()

    def close(self) -> None:
        """Stop listening."""
        (self._folder / _ADDRESS).unlink(missing_ok=True)
        self._stop_listening()
        shutil.rmtree(self._own, ignore_errors=True)

    def _open(self) -> tuple[socket.socket, Path]:
        _forget_former(self._folder)
        own = Path(tempfile.mkdtemp(prefix=_PREFIX))
        path = own / _SOCKET
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(128)
        replace_text(self._folder / _ADDRESS, str(path))
        self._serve(listener)
        return listener, own

    def _stop_listening(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # `close` alone leaves a thread in `accept`
        self._listener.close()


def _forget_former(folder: Path) -> None:
    """Remove the folder that a killed host left."""
    try:
        former = Path((folder / _ADDRESS).read_text()).parent
        is_ours = former.name.startswith(_PREFIX) and former.stat().st_uid == os.getuid()
    except OSError:
        return
    if is_ours:
        shutil.rmtree(former, ignore_errors=True)

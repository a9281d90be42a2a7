"""Questions to the host of warm workers: one line of JSON each way, over a Unix socket that only its user can open.

    {"do": "run", "run": id}        {"taken": bool}          taken already: true again
    {..., "when": "room"}           {"taken": bool}          only where a worker begins it at once
    {"do": "stop", "run": id}       {"found": bool}
    {"do": "where", "run": id}      {"at": "waiting" | "running" | "unknown"}
    {"do": "status"}                figures of the workers

A socket's path may have some hundred bytes, which folders exceed: it is in a temporary folder (0700) of its own, whose
name is in the file `address` of the host's folder.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidemark.system.files import replace_text
from tidemark.warm_runs.errors import WorkersDownError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ADDRESS: Final = "address"
_PREFIX: Final = "tidemark-workers-"
_SECONDS: Final = 10.0
MOST_BYTES: Final = 65_536


def ask(folder: Path, question: Mapping[str, Any], seconds: float = _SECONDS) -> dict[str, Any]:
    """The host's answer. Raises WorkersDownError where none listens, or does not answer in time."""
    try:
        path = (folder / _ADDRESS).read_text()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds)
            connection.connect(path)
            connection.sendall(json.dumps(question).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline(MOST_BYTES))
                return answer
    except (OSError, ValueError) as error:
        raise WorkersDownError.of(folder, str(error) or type(error).__name__) from error


def open_address(folder: Path) -> tuple[socket.socket, Path]:
    """A listening socket that others find by `folder`, and the temporary folder that it is in."""
    _forget_former(folder)
    own = Path(tempfile.mkdtemp(prefix=_PREFIX))
    path = own / "s"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(128)
    replace_text(folder / _ADDRESS, str(path))
    return listener, own


def close_address(folder: Path, own: Path) -> None:
    """Nobody listens there any more."""
    (folder / _ADDRESS).unlink(missing_ok=True)
    shutil.rmtree(own, ignore_errors=True)


def _forget_former(folder: Path) -> None:
    """What a killed host left behind."""
    try:
        former = Path((folder / _ADDRESS).read_text()).parent
        is_ours = former.name.startswith(_PREFIX) and former.stat().st_uid == os.getuid()
    except OSError:
        return
    if is_ours:
        shutil.rmtree(former, ignore_errors=True)

"""The process that serves a project, by a locked file in Dagster's home."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.strict_json import json_text
from tidemark.system.errors import ServedAlreadyError
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.system.settings import Settings

_FILE: Final = "up.json"


class ServedAt(NamedTuple):
    """The address of the pages, and the process that serves them."""

    url: str
    pid: int

    def __str__(self) -> str:
        return f"{self.url}, process {self.pid}"


@contextmanager
def serve_alone(home: Path, url: str) -> Iterator[None]:
    """Lock Dagster's home for this process: two daemons of one home would start runs twice.

    Raises ServedAlreadyError if another process serves it. The lock ends with the process.
    """
    private_directory(home)
    file = os.open(home / _FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(file):
            raise ServedAlreadyError.of(home, _read(file))
        os.ftruncate(file, 0)
        os.pwrite(file, json_text({"url": url, "pid": os.getpid()}).encode(), 0)
        yield
    finally:
        os.close(file)


def served_at(home: Path) -> ServedAt | None:
    """The process that serves Dagster's home; None if there is none."""
    try:
        file = os.open(home / _FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        return None if _try_lock(file) else _read(file)
    finally:
        os.close(file)


def runs_url(settings: Settings) -> str:
    """The address of a run's page without the run's id, if the project is served on this machine; else empty."""
    served = served_at(settings.dagster_home)
    return f"{served.url}/runs/" if served else ""


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read(file: int) -> ServedAt | None:
    try:
        said = json.loads(os.pread(file, 4096, 0))
        return ServedAt(str(said["url"]), int(said["pid"]))
    except (ValueError, KeyError, TypeError):
        return None

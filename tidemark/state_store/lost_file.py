"""Detects a lost state store: its file is missing or empty, but the lake has tables."""

from __future__ import annotations

import logging
import os
import sqlite3
import uuid
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.state_store.errors import StateStoreDamagedError
from tidemark.system.files import private_file

if TYPE_CHECKING:
    from tidemark.system.settings import Settings

_LOGGER: Final = logging.getLogger("tidemark")
BUILT_AGAIN: Final = "the state store is missing, but the lake has tables: it is built again from Dagster's log"
"""The message for logs and users."""


def is_lost(settings: Settings) -> bool:
    """Whether the file is missing and a lake on disk has tables. Other lakes are not checked."""
    return not settings.state and not settings.state_db.exists() and _has_tables(settings)


def require_not_emptied(settings: Settings) -> None:
    """Raise StateStoreDamagedError for an empty file while the lake has tables; log a missing file."""
    file = settings.state_db
    if is_lost(settings):
        _LOGGER.warning("%s (%s). `tidemark doctor --after-restore` shows what is missing.", BUILT_AGAIN, file)
    elif file.is_file() and not file.stat().st_size and _has_tables(settings):
        raise StateStoreDamagedError.emptied(file, str(settings.warehouse))


def make_file(file: Path) -> None:
    """Create a SQLite file that is never empty, readable only by its owner. Of several processes, one creates it.

    Raises OSError and sqlite3.Error.
    """
    if file.exists():
        return
    passing = private_file(file.with_name(f".{file.name}.new-{uuid.uuid4().hex[:8]}"))
    try:
        with closing(sqlite3.connect(passing)) as new:
            new.execute("PRAGMA journal_mode=WAL").close()
        with suppress(FileExistsError):  # unlike a rename, a link does not replace an existing file
            os.link(passing, file)
    finally:
        passing.unlink(missing_ok=True)


def _has_tables(settings: Settings) -> bool:
    lake = settings.warehouse
    return isinstance(lake, Path) and any(True for _ in lake.glob("*/_delta_log/*.json"))

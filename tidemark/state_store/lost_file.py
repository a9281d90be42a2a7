"""A state store's file that is missing or empty where the lake has tables: it was lost, and is not a new one."""

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
BUILT_AGAIN: Final = "the state store is missing, and the lake has tables: it is built again from Dagster's log"
"""What logs and people are told."""


def is_lost(settings: Settings) -> bool:
    """Whether there is no file, and tables in a lake on disk: somebody computed them. Other lakes are not asked."""
    return not settings.state and not settings.state_db.exists() and _has_tables(settings)


def require_not_emptied(settings: Settings) -> None:
    """Raise StateStoreDamagedError for an empty file where the lake has tables; say so where the file is missing."""
    file = settings.state_db
    if is_lost(settings):
        _LOGGER.warning("%s (%s). `tidemark doctor --after-restore` says what that lacks.", BUILT_AGAIN, file)
    elif file.is_file() and not file.stat().st_size and _has_tables(settings):
        raise StateStoreDamagedError.emptied(file, str(settings.warehouse))


def make_file(file: Path) -> None:
    """Make a new file of SQLite that is not empty at any time, for its owner alone. Of several processes one does.

    Raises OSError and sqlite3.Error.
    """
    if file.exists():
        return
    passing = private_file(file.with_name(f".{file.name}.new-{uuid.uuid4().hex[:8]}"))
    try:
        with closing(sqlite3.connect(passing)) as new:
            new.execute("PRAGMA journal_mode=WAL").close()
        with suppress(FileExistsError):  # unlike a rename, a link takes nobody's place
            os.link(passing, file)
    finally:
        passing.unlink(missing_ok=True)


def _has_tables(settings: Settings) -> bool:
    lake = settings.warehouse
    return isinstance(lake, Path) and any(True for _ in lake.glob("*/_delta_log/*.json"))

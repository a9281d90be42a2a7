"""The SQLite file of a store, and the copies made before each migration, for a return to an older program.

For PostgreSQL, use its own tools: make a dump before the upgrade.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.system.sqlite_copies import copy_sqlite

if TYPE_CHECKING:
    from sqlalchemy import URL


def sqlite_file(url: URL) -> Path | None:
    """The store's file; None for a server or a store in memory."""
    name = url.database or ""
    is_file = url.get_backend_name() == "sqlite" and name and not name.startswith((":", "file:"))
    return Path(name) if is_file else None


def copy_before_migration(url: URL, step: int) -> None:
    """Copy the committed contents to `FILE.step-N`, which a program with last step N can open.

    It replaces the copy of an earlier attempt. A failed copy leaves no file.
    """
    file = sqlite_file(url)
    if file is None:
        return
    unfinished = file.with_name(f"{file.name}.step-{step}.unfinished")
    copy_sqlite(file, unfinished)
    unfinished.replace(file.with_name(f"{file.name}.step-{step}"))


def newest_copy(url: URL, last: int) -> Path | None:
    """The newest copy that a program with that last step can open, if there is one."""
    file = sqlite_file(url)
    if file is None:
        return None
    copies = (file.with_name(f"{file.name}.step-{step}") for step in range(last, -1, -1))
    return next((copy for copy in copies if copy.exists()), None)

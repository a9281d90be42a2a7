"""A store in a SQLite file, and the copies made of it before each migration: the way back to an older program.

PostgreSQL has its own tools for this: a dump before the upgrade.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.system.sqlite_copies import copy_sqlite

if TYPE_CHECKING:
    from sqlalchemy import URL


def sqlite_file(url: URL) -> Path | None:
    """The store's file; None for a server and for a store in memory."""
    name = url.database or ""
    is_file = url.get_backend_name() == "sqlite" and name and not name.startswith((":", "file:"))
    return Path(name) if is_file else None


def copy_before_migration(url: URL, step: int) -> None:
    """Copy what is committed in the store's file to `FILE.step-N`, which a program whose last step is N opens.

    The copy of an earlier try is replaced. A copy that breaks off leaves none.
    """
    file = sqlite_file(url)
    if file is None:
        return
    unfinished = file.with_name(f"{file.name}.step-{step}.unfinished")
    copy_sqlite(file, unfinished)
    unfinished.replace(file.with_name(f"{file.name}.step-{step}"))


def newest_copy(url: URL, last: int) -> Path | None:
    """The copy that a program with that last step opens and that was made last, where there is one."""
    file = sqlite_file(url)
    if file is None:
        return None
    copies = (file.with_name(f"{file.name}.step-{step}") for step in range(last, -1, -1))
    return next((copy for copy in copies if copy.exists()), None)
